#!/bin/sh
# The notify script of FastNetMon Community for Pharos: posts each ban, its details and the unban.
#
#   pharos-notify <ip> <direction> <pps> <action>    called by FastNetMon (notify_script_path), details on standard input
#   pharos-notify --flush                            sends what is waiting, and fails if something remains: for a timer
#
# It never blocks FastNetMon: a notification is written to the spool, and sent in the background with retries. What could not
# be sent stays there and is sent with the next notification, or by --flush. Needs a POSIX shell and curl.
#
# /etc/pharos-notify.conf, or the file in $PHAROS_NOTIFY_CONF, is read as shell variables:
#   URL          https://<pharos>/v3/ingest/events/<key of the source>
#   TOKEN_FILE   a file with the secret of the source, which only the user of FastNetMon can read
#   SPOOL        a directory that this script creates and writes to; default /var/spool/pharos-notify
#   CA_FILE      optional, certificates that sign the one of Pharos
#   ATTACKS      optional, where FastNetMon writes its reports, which become files of the event; default /var/log/fastnetmon_attacks
set -u
umask 077
LC_ALL=C
export LC_ALL

URL=
TOKEN_FILE=
SPOOL=/var/spool/pharos-notify
CA_FILE=
ATTACKS=/var/log/fastnetmon_attacks
queue_max=1000
# Pauses before another attempt, in seconds.
RETRIES='2 5 15 60'

log() {
  logger -t pharos-notify -- "$1" 2>/dev/null || :
}

# Text as the content of a JSON string: ASCII, at most 150 kB.
json_text() {
  tr -c '\012\040-\176' ' ' | sed 's/["\\]/\\&/g' |
    awk '{ size += length($0) + 2; if (size < 150000) printf "%s\\n", $0 }'
}

json_word() {
  printf '%s' "$1" | tr -cd 'A-Za-z0-9_.:/+-' | cut -c 1-100
}

# Posts one notification; prints the HTTP status, 000 without an answer. The secret is not an argument of any process.
post() {
  secret=$(tr -d '\r\n' <"$TOKEN_FILE" | sed 's/["\\]/\\&/g')
  {
    printf 'header = "Authorization: Token %s"\n' "$secret"
    [ -z "$CA_FILE" ] || printf 'cacert = "%s"\n' "$CA_FILE"
  } | case $1 in
    *.report) post_report "$1" ;;
    *)
      curl --config - --silent --output /dev/null --write-out '%{http_code}' --connect-timeout 5 --max-time 20 \
        --header 'Content-Type: application/json' --header "Idempotency-Key: ${1##*/}" --data-binary "@$1" -- "$URL"
      ;;
  esac
}

# Posts a report as a file of the event. Its first line is the id of the event, percent-encoded, and the name of the file.
post_report() {
  read -r event filename <"$1"
  tail -n +2 "$1" >"$SPOOL/report"
  curl --config - --silent --output /dev/null --write-out '%{http_code}' --connect-timeout 5 --max-time 20 \
    --header 'Content-Type: text/plain' --header "X-Filename: $filename" --data-binary "@$SPOOL/report" -- \
    "${URL%%\?*}/$event/attachments"
}

# Sends all waiting notifications; fails if the first one that cannot be sent now remains.
drain() {
  for file in "$SPOOL"/queue/*; do
    [ -f "$file" ] || continue
    status=$(post "$file")
    case $status:$file in
      2??:*) rm -f "$file" ;;
      # A Pharos without files of events, or an event with too many of them, must not stop the notifications.
      400:* | 413:* | 415:* | 422:* | 403:*.report | 404:*.report)
        log "rejected with status $status: ${file##*/}"
        mkdir -p "$SPOOL/rejected" && mv "$file" "$SPOOL/rejected/"
        ;;
      *)
        log "not sent, status ${status:-000}: ${file##*/}"
        return 1
        ;;
    esac
  done
}

is_waiting() {
  for file in "$SPOOL"/queue/*; do
    [ -f "$file" ] && return 0
  done
  return 1
}

# One sender at a time. A lock whose process is gone (a crash, a reboot) is removed.
lock() {
  if mkdir "$SPOOL/lock" 2>/dev/null; then
    printf '%s\n' "$1" >"$SPOOL/lock/pid"
    return 0
  fi
  owner=$(cat "$SPOOL/lock/pid" 2>/dev/null) || owner=
  [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null || return 1
  rm -rf "$SPOOL/lock"
  mkdir "$SPOOL/lock" 2>/dev/null && printf '%s\n' "$1" >"$SPOOL/lock/pid"
}

# $1: pid of the sender, $2: pauses before further attempts.
send() {
  while is_waiting && lock "$1"; do
    sent=1
    drain || sent=0
    for pause in $2; do
      [ "$sent" = 0 ] || break
      sleep "$pause"
      sent=1
      drain || sent=0
    done
    rm -rf "$SPOOL/lock"
    # A notification that arrived since is sent too; one that cannot be sent waits.
    [ "$sent" = 1 ] || return 1
  done
}

# The oldest are given up if Pharos is unreachable for very long.
trim() {
  count=$(ls "$SPOOL/queue" | wc -l)
  [ "$count" -le "$queue_max" ] && return 0
  ls "$SPOOL/queue" | head -n $((count - queue_max)) | while read -r name; do rm -f "$SPOOL/queue/$name"; done
  log "more than $queue_max notifications are waiting: the oldest were removed"
}

# Queues the newest report on the address, at most 1 MB of it. FastNetMon has written it before it calls with attack_details.
report() {
  newest=$(ls -t "$ATTACKS/$1"_*.txt 2>/dev/null | head -n 1)
  [ -n "$newest" ] && [ -r "$newest" ] || return 0
  case $1 in *:*) length=128 ;; *) length=32 ;; esac
  {
    printf '%s%%2F%s%%7C%s %s\n' "$(printf '%s' "$1" | sed 's/:/%3A/g')" "$length" "$2" "$(json_word "${newest##*/}")"
    head -c 1000000 "$newest" | tr -d '\000'
  } >"$SPOOL/new-$$" && mv "$SPOOL/new-$$" "$SPOOL/queue/$3.report"
}

# The time of the ban is the id of the attack until the unban; FastNetMon has at most one ban of an address.
notify() {
  ip=$(json_word "$1")
  action=$(json_word "$4")
  now=$(date +%s)
  state="$SPOOL/bans/$(printf '%s' "$ip" | tr ':/' '__')"
  incident=$(cat "$state" 2>/dev/null) || incident=
  previous=
  if [ "$action" = ban ]; then
    previous=$incident
    incident=$now
    printf '%s\n' "$incident" >"$state"
  fi
  name="$now-$(json_word "$(uname -n)")-$(printf '%s' "$ip" | tr ':/' '__')-$action-$$"
  {
    printf '{"version":1,"ip":"%s","direction":"%s","pps":"%s","action":"%s","time":%s,"incident":"%s","previous":"%s"' \
      "$ip" "$(json_word "$2")" "$(json_word "$3")" "$action" "$now" "$(json_word "${incident:-$now}")" "$(json_word "$previous")"
    printf ',"details":"'
    [ -z "$details" ] || printf '%s\n' "$details" | json_text
    printf '"}\n'
  } >"$SPOOL/new-$$" && mv "$SPOOL/new-$$" "$SPOOL/queue/$name"
  [ "$action" = attack_details ] && report "$ip" "${incident:-$now}" "$name"
  [ "$action" = unban ] && rm -f "$state"
  trim
}

# FastNetMon fails if nobody reads the details, so that they are read before anything else. It sends none at an unban.
details=
case ${4:-} in
  ban | attack_details) details=$(cat) ;;
esac

conf=${PHAROS_NOTIFY_CONF:-/etc/pharos-notify.conf}
[ -r "$conf" ] && . "$conf"
mkdir -p "$SPOOL/queue" "$SPOOL/bans" 2>/dev/null

case ${1:-} in
  --flush)
    send $$ '' && ! is_waiting
    exit
    ;;
  --send)
    send $$ "$RETRIES"
    exit
    ;;
esac

if [ -z "$URL" ] || [ ! -r "$TOKEN_FILE" ] || [ ! -w "$SPOOL/queue" ] || [ $# -ne 4 ]; then
  log "nothing sent: URL and TOKEN_FILE in $conf, a writable $SPOOL and four arguments are needed"
  exit 0
fi
notify "$@"
# A process of its own, whose id is in the lock.
sh "$0" --send </dev/null >/dev/null 2>&1 &
exit 0
