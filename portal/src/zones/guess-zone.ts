// The zone that a file most likely is of, to fill in its name. Pure.

/** Returns the name by `$ORIGIN`, the owner of the SOA record, or the name of the file; otherwise undefined. */
export function guessZone(content: string, fileName = ''): string | undefined {
  const origin = /^\$ORIGIN[ \t]+(\S+\.)[ \t]*(?:;.*)?$/im.exec(content)?.[1]
  const owner = /^(\S+\.)[ \t]+(?:\S+[ \t]+){0,2}SOA[ \t]/im.exec(content)?.[1]
  const named = /^(?:db\.|zone\.)?(.+?)(?:\.(?:zone|db|txt|hosts|signed))*$/i.exec(fileName)?.[1]
  const found = origin ?? owner ?? named
  return found !== undefined && /^[^.\s/]+(?:\.[^.\s/]+)+\.?$/.test(found)
    ? found.replace(/\.$/, '')
    : undefined
}
