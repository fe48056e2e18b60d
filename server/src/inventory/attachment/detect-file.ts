// The kind and the media type of a file by its first bytes. A type that a browser could run is never returned. Pure.
import type { AttachmentKind, AttachmentMediaType } from '@pharos/contract/inventory/attachment'

export type DetectedFile = { readonly kind: AttachmentKind; readonly mediaType: AttachmentMediaType }

/** Signatures in hexadecimal: pcap in both byte orders with micro- and nanoseconds, and pcapng. */
const signatures: readonly (readonly [prefix: string, file: DetectedFile])[] = [
  ['255044462d', { kind: 'pdf', mediaType: 'application/pdf' }],
  ['89504e470d0a1a0a', { kind: 'image', mediaType: 'image/png' }],
  ['ffd8ff', { kind: 'image', mediaType: 'image/jpeg' }],
  ...['a1b2c3d4', 'd4c3b2a1', 'a1b23c4d', '4d3cb2a1', '0a0d0d0a'].map(
    (prefix) => [prefix, { kind: 'pcap', mediaType: 'application/vnd.tcpdump.pcap' }] as const,
  ),
]

const other: DetectedFile = { kind: 'other', mediaType: 'application/octet-stream' }

export function detectFile(bytes: Buffer, filename: string): DetectedFile {
  const head = bytes.subarray(0, 16).toString('hex')
  const found = signatures.find(([prefix]) => head.startsWith(prefix))
  if (found) return found[1]
  const text = textOf(bytes)
  if (text === undefined) return other
  if (/^\s*[[{]/.test(text) && isJson(text)) return { kind: 'json', mediaType: other.mediaType }
  return /\.csv$/i.test(filename) && !text.trimStart().startsWith('<')
    ? { kind: 'csv', mediaType: 'text/csv' }
    : other
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
