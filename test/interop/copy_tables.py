"""Copies a folder with Hadoop's file systems, to or from object storage: copy_tables.py <from> <to>"""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("copy").getOrCreate()
hadoop = spark._jvm.org.apache.hadoop
conf = spark._jsc.hadoopConfiguration()
places = [hadoop.fs.Path(one) for one in sys.argv[1:3]]
source, target = (one.getFileSystem(conf) for one in places)
target.delete(places[1], True)
hadoop.fs.FileUtil.copy(source, places[0], target, places[1], False, conf)
spark.stop()
