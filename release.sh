#!/bin/sh
# Makes what a release is: the tarball, its SHA-256 and its bill of materials (CycloneDX), in ./release. The tarball is made
# twice, from builds of their own, and both must be the same bytes.
set -eu
cd "$(dirname "$0")"
rm -rf release
mkdir -p release/again
npm run build
npm pack --ignore-scripts --pack-destination release
npm run build
npm pack --ignore-scripts --pack-destination release/again
file=$(cd release && ls pricelake-*.tgz)
cmp "release/$file" "release/again/$file"
rm -r release/again
npm sbom --omit=dev --sbom-format=cyclonedx >"release/${file%.tgz}.cdx.json"
(cd release && sha256sum "$file" "${file%.tgz}.cdx.json" >SHA256SUMS && cat SHA256SUMS)
