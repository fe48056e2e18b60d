// The setting `clamd_url` as a place to connect to.

export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** Reads `unix:/path` or `tcp://host:port`. Throws with what to write instead. */
export function parseClamdUrl(text: string): ClamdAddress {
  const path = /^unix:(\/.+)$/.exec(text)?.[1]
  if (path !== undefined) return { path }
  const [, bracketed, name, port] = /^tcp:\/\/(?:\[([\d:a-f]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? name
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new Error('must be like unix:/run/clamav/clamd.ctl or tcp://127.0.0.1:3310')
  return { host, port: Number(port) }
}
