// Scans letters with a clamd over its socket (clamd(8), command INSTREAM). An answer that is neither "clean" nor "found"
// counts as no answer: nothing passes unscanned.
import { connect } from 'node:net'
import type { LetterScanner } from '../../byoip/letter/inspect-letter.ts'
import type { ClamdAddress } from '../../runtime/clamd-url.ts'
import { fail, type Failure } from '../../runtime/error.ts'

/** The daemon resolves archives and reads its signatures; 10 MiB take it a second. */
const timeoutMs = 15_000
const answerMax = 4096

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
  // A command that begins with z is answered up to a NUL. Of a connection that ends within the answer nothing is known.
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
