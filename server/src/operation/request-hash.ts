// The hash of a request that an Idempotency-Key is bound to. Besides the whole request, it has the method and the path
// separately, so that a mismatch can be explained.
import { hash } from 'node:crypto'

const wholeBytes = 32
const partBytes = 16

/**
 * Returns 64 bytes: SHA-256 of the whole request, and the first bytes of the hashes of the method and of the path with
 * its query.
 */
export function requestHashOf(actor: string, method: string, url: string, content: Buffer): Buffer {
  const head = Buffer.from(`${actor}\n${method} ${url}\n`)
  const parts = [method, url].map((text) => digestOf(text).subarray(0, partBytes))
  return Buffer.concat([digestOf(Buffer.concat([head, content])), ...parts])
}

const digestOf = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer')

/**
 * Returns undefined if both belong to the same request, otherwise the parts that differ: `the method`, `the path or
 * query`, or else `the body`. Empty for a hash of an older version, which covers only the request as a whole.
 */
export function requestDifferencesOf(kept: Buffer, sent: Buffer): string[] | undefined {
  if (kept.subarray(0, wholeBytes).equals(sent.subarray(0, wholeBytes))) return undefined
  if (kept.length <= wholeBytes || sent.length <= wholeBytes) return []
  const differs = ['the method', 'the path or query'].filter((_, at) => {
    const from = wholeBytes + at * partBytes
    return !kept.subarray(from, from + partBytes).equals(sent.subarray(from, from + partBytes))
  })
  return differs.length > 0 ? differs : ['the body']
}
