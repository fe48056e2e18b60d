// Scans letters with clamd over its socket (clamd(8), command INSTREAM). A response that is neither clean nor a finding
// counts as unavailable: no letter passes unscanned.
import { connect } from 'node:net'
import type { LetterScanner } from '../../byoip/letter/inspect-letter.ts'
import { fail, type Failure } from '../../runtime/error.ts'
import { urlDriver } from '../driver/url-driver.ts'

/** The daemon unpacks archives and matches its signatures; 10 MiB take a second. */
const timeoutMs = 15_000
const answerMax = 4096

export const clamd = urlDriver<ClamdAddress, undefined, LetterScanner>({
  kind: 'clamd',
  schemes: ['unix:', 'tcp:'],
  forms: ['unix:/path', 'tcp://host:port'],
  parse: parseClamdUrl,
  create: createClamd,
})

/** Returns a scanner that opens one connection for each letter. */
export function createClamd(address: ClamdAddress): LetterScanner {
  return {
    async scan(bytes) {
      const answer = await ask(address, bytes).catch((error: Error) => {
        throw unavailable(error)
      })
      if (/^stream: OK$/.test(answer)) return undefined
      const found = /^stream: (.+) FOUND$/.exec(answer)?.[1]
      if (found === undefined) throw unavailable(new Error(`clamd answered ${JSON.stringify(answer)}`))
      return found
    },
  }
}

function unavailable(cause: Error): Failure {
  return fail('unavailable', 'scanner', { retryAfterSeconds: 60, degraded: ['virus scanner'], cause })
}

function ask(address: ClamdAddress, bytes: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(address)
  const timer = setTimeout(() => socket.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
  let answer = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    answer += text
    if (answer.length > answerMax) socket.destroy(new Error('the answer is too long'))
  })
  socket.on('error', reject)
  // The response to a command that begins with z ends with a NUL. If the connection ends before it, the result is unknown.
  socket.on('close', () => {
    clearTimeout(timer)
    const end = answer.indexOf('\0')
    if (end < 0) reject(new Error('the connection ended without an answer'))
    else resolve(answer.slice(0, end))
  })
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  socket.write(Buffer.concat([Buffer.from('zINSTREAM\0'), length]))
  socket.write(bytes)
  socket.write(Buffer.alloc(4))
  return promise
}

type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number }

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
