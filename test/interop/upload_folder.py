"""Copies a folder into a bucket of an S3 server on loopback: upload_folder.py <folder> <address of the server> <bucket>"""

import sys

from pyarrow import fs

folder, server, bucket = sys.argv[1:]
store = fs.S3FileSystem(endpoint_override=server, scheme="http", access_key="interop", secret_key="interop-secret", region="us-east-1")
fs.copy_files(folder, bucket, source_filesystem=fs.LocalFileSystem(), destination_filesystem=store)
