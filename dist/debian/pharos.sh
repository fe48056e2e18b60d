#!/bin/sh
# `pharos` of the Debian package: the settings and secrets of /etc/pharos, unless the environment has others.
set -eu

: "${PHAROS_CONFIG=/etc/pharos/pharos.yaml}"
export PHAROS_CONFIG
if [ -z "${PHAROS_SECRET+set}" ] && [ -e /etc/pharos/secret ]; then
  : "${PHAROS_SECRET_FILE=/etc/pharos/secret}"
  export PHAROS_SECRET_FILE
fi
if [ -z "${DATABASE_URL+set}" ] && [ -e /etc/pharos/database-url ]; then
  : "${DATABASE_URL_FILE=/etc/pharos/database-url}"
  export DATABASE_URL_FILE
fi
exec /usr/lib/pharos/bin/pharos "$@"
