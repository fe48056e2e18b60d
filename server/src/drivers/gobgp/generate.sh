#!/bin/sh
# Writes generated/ anew from the .proto files. Needs Debian's protobuf-compiler; the generator must have the version of
# @bufbuild/protobuf in server/package.json. It is fetched for the occasion, since it would bring a second TypeScript
# into the tree of everybody who only runs Pharos.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
npm exec --yes --package=@bufbuild/protoc-gen-es@2.17.0 -- \
  protoc -I "$here" --es_out="$here/generated" --es_opt=target=js+dts gobgp.proto gobgp4.proto
