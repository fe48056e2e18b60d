// The address of clamd, in the format of the setting `clamd_url`.

export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Parses `unix:/path` or `tcp://host:port`; throws a TypeError with the fix. */
export function parseClamdUrl(text: string): ClamdAddress {
  const path = /^unix:(\/.+)$/.exec(text)?.[1]
  if (path !== undefined) return { path }
  const [, bracketed, name, port] = /^tcp:\/\/(?:\[([\d:a-f]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? name
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new TypeError('must be like unix:/run/clamav/clamd.ctl or tcp://127.0.0.1:3310')
  return { host, port: Number(port) }
}
