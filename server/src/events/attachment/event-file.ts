// The stored form of a file that a detector pushes, and the part of it for a team. Pure.
import type { AttachmentKind, AttachmentMediaType } from '@pharos/contract/inventory/attachment'
import { detectFile } from '../../inventory/attachment/detect-file.ts'
import { covers, overlaps } from '../../net/prefix.ts'
import type { Prefix } from '../../net/prefix.ts'
import { isCapture, readCapture, writeCapture } from './capture.ts'
import { addressesOf } from './packet-addresses.ts'

export type EventFile = {
  readonly filename: string
  readonly kind: AttachmentKind
  readonly mediaType: AttachmentMediaType
  readonly bytes: Buffer
}

/**
 * Returns the file as it is kept: captures as pcap with short packets, text and JSON unchanged. Undefined for any other content. Throws
 * CaptureError for a capture that cannot be read.
 */
export function acceptFile(bytes: Buffer, filename: string): EventFile | undefined {
  const name = filename.replaceAll(/[^\p{L}\p{N} ._()-]+/gu, '_').slice(-120) || 'file'
  if (isCapture(bytes)) {
    const capture = writeCapture(readCapture(bytes))
    return {
      filename: name.replace(/\.pcapng$/i, '.pcap'),
      kind: 'pcap',
      mediaType: 'application/vnd.tcpdump.pcap',
      bytes: capture,
    }
  }
  if (bytes.length === 0 || !isText(bytes)) return undefined
  return { filename: name, bytes, ...detectFile(bytes, name) }
}

/** UTF-8 without control characters of binary files. */
function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The networks of an event, and the team's own networks among them. */
export type Cut = { readonly networks: readonly Prefix[]; readonly own: readonly Prefix[] }

/**
 * Returns the packets from and to the team's own networks, except packets with the other end in an affected network of
 * others; undefined without packets. Only captures have a part for a team.
 */
export function cutCapture(file: Buffer, { networks, own }: Cut): Buffer | undefined {
  const isOwn = (prefix: Prefix) => own.some((network) => covers(network, prefix))
  const isForeign = (prefix: Prefix) =>
    !isOwn(prefix) && networks.some((network) => overlaps(network, prefix))
  const { linkType, packets } = readCapture(file)
  const kept = packets.filter(({ bytes }) => {
    const found = addressesOf(linkType, bytes)
    if (!found) return false
    const { source, destination } = found
    return (isOwn(destination) && !isForeign(source)) || (isOwn(source) && !isForeign(destination))
  })
  return kept.length === 0 ? undefined : writeCapture({ linkType, packets: kept })
}
