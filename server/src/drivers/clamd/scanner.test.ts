import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Failure } from '../../runtime/error.ts'
import { parseClamdUrl } from './scanner.ts'
import { createClamd } from './scanner.ts'

const servers: Server[] = []
const folder = mkdtempSync(join(tmpdir(), 'clamd-'))
after(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

/** Implements clamd's INSTREAM: reads chunks until the empty one, and sends the result of `judge`. */
async function startClamd(judge: (bytes: Buffer, socket: Socket) => string | undefined): Promise<string> {
  const server = createServer((socket) => {
    const got: Buffer[] = []
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      got.push(chunk)
      // The chunk of length 0 is last: no chunk is copied before it arrives.
      const bytes = chunk.subarray(-4).every((byte) => byte === 0)
        ? readStream(Buffer.concat(got))
        : undefined
      if (!bytes) return
      const answer = judge(bytes, socket)
      if (answer !== undefined) socket.end(answer)
    })
  })
  servers.push(server)
  const path = join(folder, `${servers.length}.sock`)
  server.listen(path)
  await once(server, 'listening')
  return `unix:${path}`
}

function readStream(got: Buffer): Buffer | undefined {
  const command = 'zINSTREAM\0'
  if (got.length < command.length) return undefined
  assert.equal(got.toString('latin1', 0, command.length), command)
  const chunks: Buffer[] = []
  for (let at = command.length; at + 4 <= got.length;) {
    const length = got.readUInt32BE(at)
    if (length === 0) return Buffer.concat(chunks)
    chunks.push(got.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return undefined
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof Failure &&
  error.code === 'unavailable' &&
  /does not answer.*Upload the letter again later/.test(error.message)

describe('a scan by clamd', () => {
  it('returns the name of what was found, and nothing for a clean file', async () => {
    const url = await startClamd((bytes) =>
      bytes.includes('EICAR') ? 'stream: Eicar-Test-Signature FOUND\0' : 'stream: OK\0',
    )
    const scanner = createClamd(parseClamdUrl(url))
    assert.equal(await scanner.scan(Buffer.from('a letter')), undefined)
    assert.equal(await scanner.scan(Buffer.from('an EICAR test')), 'Eicar-Test-Signature')
    assert.equal(await scanner.scan(Buffer.alloc(10 * 1024 * 1024, 7)), undefined)
  })

  it('fails if the daemon is away, refuses, or ends the connection early', async () => {
    const answers = [
      undefined,
      '',
      'stream: O',
      'INSTREAM size limit exceeded. ERROR\0',
      'stream: OK\nstream: X FOUND\0',
      `${'x'.repeat(5_000)}\0`,
    ]
    for (const answer of answers) {
      const url = await startClamd((_, socket) => (answer === undefined ? void socket.destroy() : answer))
      await assert.rejects(createClamd(parseClamdUrl(url)).scan(Buffer.from('a')), isUnavailable, answer)
    }
    const nobody = createClamd(parseClamdUrl(`unix:${join(folder, 'none.sock')}`))
    await assert.rejects(nobody.scan(Buffer.from('a')), isUnavailable)
  })
})

describe('the address of a clamd', () => {
  it('is a socket or a host with its port', () => {
    assert.deepEqual(parseClamdUrl('unix:/run/clamav/clamd.ctl'), { path: '/run/clamav/clamd.ctl' })
    assert.deepEqual(parseClamdUrl('tcp://127.0.0.1:3310'), { host: '127.0.0.1', port: 3310 })
    assert.deepEqual(parseClamdUrl('tcp://[::1]:3310'), { host: '::1', port: 3310 })
    for (const text of [
      '/run/clamd.ctl',
      'unix:clamd',
      'tcp://host',
      'tcp://host:0',
      'tcp://host:99999',
      'http://a:1',
    ])
      assert.throws(() => parseClamdUrl(text), /must be like unix:/, text)
  })
})
