import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from './address.ts'
import { IrrServer } from './irr-server.ts'
import { programPath, skipWithout } from './program.ts'

const run = promisify(execFile)

const objects = [
  'route: 192.0.2.0/24\norigin: AS64496\nsource: LAB',
  'route: 198.51.100.0/24\norigin: AS64497\nsource: LAB',
  'route: 203.0.113.0/24\norigin: AS64498\nsource: OTHER',
  'route6: 2001:db8::/32\norigin: AS64496\nsource: LAB',
  'route6: 2001:db8:a::/48\norigin: AS64499\nsource: LAB',
  'as-set: AS-LAB\nmembers: AS64496, AS-DEEP\nsource: LAB',
  'as-set: AS-DEEP\nmembers: AS64497, AS64498, AS-LAB\nsource: LAB',
  'aut-num: AS64496\nas-name: ONE\nsource: LAB',
]

describe('the registry of the lab, queried by bgpq4', { skip: skipWithout('bgpq4') }, () => {
  const expected: readonly [string, readonly string[], readonly string[]][] = [
    ['an as-set', ['-4', 'AS-LAB'], ['192.0.2.0/24', '198.51.100.0/24']],
    ['an as-set for IPv6', ['-6', 'AS-LAB'], ['2001:db8::/32']],
    ['an as-set, set by set', ['-L', '5', '-4', 'AS-LAB'], ['192.0.2.0/24', '198.51.100.0/24']],
    ['an as-set, but not its sets', ['-L', '1', '-4', 'AS-LAB'], ['192.0.2.0/24']],
    ['an ASN', ['-4', 'AS64497'], ['198.51.100.0/24']],
    ['an ASN for IPv6', ['-6', 'AS64499'], ['2001:db8:a::/48']],
    [
      'two registries',
      ['-S', 'LAB,OTHER', '-4', 'AS-LAB'],
      ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
    ],
    ['an unknown set', ['-4', 'AS-NOWHERE'], []],
  ]
  for (const [what, args, prefixes] of expected) {
    it(`answers for ${what}`, async (t) => {
      const server = await serverOf(t)
      const sources = args.includes('-S') ? [] : ['-S', 'LAB']
      // -p accepts documentation ASNs.
      const at = ['-h', `127.0.0.1:${server.options.port}`, ...sources, '-p', '-j', '-l', 'list']
      const { stdout } = await run(programPath('bgpq4'), [...at, ...args], { timeout: 10_000 })
      const { list } = JSON.parse(stdout) as { list: { prefix: string }[] }
      assert.deepEqual(list.map(({ prefix }) => prefix).sort(), prefixes)
    })
  }

  it('refuses a registry that it does not have', async (t) => {
    const server = await serverOf(t)
    const args = ['-h', `127.0.0.1:${server.options.port}`, '-S', 'NOWHERE', 'AS-LAB']
    await assert.rejects(run(programPath('bgpq4'), args, { timeout: 10_000 }), /Invalid source/)
  })
})

describe('the registry of the lab', () => {
  const answers: readonly [string, string][] = [
    ['!v', 'A38\nIRRd -- version 4 (the lab of Pharos)\nC\n'],
    ['!nsomebody', 'C\n'],
    ['!t10', 'C\n'],
    ['!t1001', 'F Invalid value for timeout\n'],
    ['!s-lc', 'A10\nLAB,OTHER\nC\n'],
    ['!r192.0.2.0/24', `A48\n${objects[0]}\nC\n`],
    ['!r192.0.2.0/25', 'D\n'],
    ['!r192.0.2.0/25,L', `A48\n${objects[0]}\nC\n`],
    ['!r192.0.2.0/24,o', 'A8\nAS64496\nC\n'],
    ['!r192.0.2.0/24,l', 'D\n'],
    ['!r2001:db8:a::/48,l', `A50\n${objects[3]}\nC\n`],
    ['!r2001:db8::/32,M', `A52\n${objects[4]}\nC\n`],
    ['!r192.0.2.1/24', 'F host bits are set: write 192.0.2.0/24\n'],
    ['!maut-num,AS64496', `A42\n${objects[7]}\nC\n`],
    ['!maut-num,as64496', 'D\n'],
    ['!mroute,192.0.2.0/24 AS64496', `A48\n${objects[0]}\nC\n`],
    ['!iAS-LAB', 'A16\nAS64496 AS-DEEP\nC\n'],
    ['!iAS-LAB,1', 'A24\nAS64496 AS64497 AS64498\nC\n'],
    ['!jLAB', 'A10\nLAB:Y:0-1\nC\n'],
    ['!jNONE', 'A24\nNONE:X:Database unknown\nC\n'],
    ['!x', 'F Unrecognised command: x\n'],
    ['!m', 'F Missing parameter for m query\n'],
  ]
  for (const [line, answer] of answers) {
    it(`answers ${line}, and closes the connection`, async (t) => {
      const server = await serverOf(t)
      assert.equal(await ask(server, `${line}\n`), answer)
    })
  }

  it('keeps the connection open on request, and answers in order', async (t) => {
    const server = await serverOf(t)
    assert.equal(
      await ask(server, '!!\n!nme\n!iAS-LAB\n!sOTHER\n!iAS-LAB\n!q\n'),
      'C\nA16\nAS64496 AS-DEEP\nC\nC\nD\n',
    )
  })

  it('notices at the next query that its file was edited, and increments its serial', async (t) => {
    const server = await serverOf(t)
    assert.equal(await ask(server, '!r10.0.0.0/8\n'), 'D\n')
    const before = server.serial
    await appendFile(server.options.file, '\nroute: 10.0.0.0/8\norigin: AS1\nsource: LAB\n')
    assert.match(await ask(server, '!r10.0.0.0/8\n'), /10\.0\.0\.0\/8/)
    assert.equal(server.serial, before + 1)
    await writeFile(server.options.file, '')
    assert.equal(await ask(server, '!r10.0.0.0/8\n'), 'D\n')
    assert.equal(await ask(server, '!s-lc\n'), 'A4\nLAB\nC\n')
  })

  it('keeps an existing file', async (t) => {
    const server = await serverOf(t)
    await server.stop()
    await server.start()
    assert.match(await ask(server, '!r192.0.2.0/24\n'), /AS64496/)
  })
})

async function serverOf(t: TestContext): Promise<IrrServer> {
  const folder = await mkdtemp(join(tmpdir(), 'irr-'))
  const port = await freePort()
  const server = new IrrServer({ file: join(folder, 'lab.rpsl'), address: '127.0.0.1', port })
  await server.start()
  await server.setObjects(objects)
  t.after(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  return server
}

/** Resolves with all output when the connection is closed. */
async function ask(server: IrrServer, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.options.port })
  socket.setEncoding('utf8')
  socket.write(text)
  let answer = ''
  for await (const piece of socket) answer += String(piece)
  return answer
}
