// The text form of the head of the chain: `<sequence>:<hash in hexadecimal>`.
import type { Head } from './seal.store.ts'

export const formatHead = ({ sequence, hash }: Head): string => `${sequence}:${hash.toString('hex')}`

/** Returns undefined if the text is not a head. */
export function parseHead(text: string): Head | undefined {
  const match = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text.trim())
  return match ? { sequence: Number(match[1]), hash: Buffer.from(match[2]!, 'hex') } : undefined
}
