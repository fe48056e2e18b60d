// The SNMP driver on a real agent, Debian's snmpd: SNMPv2c, SNMPv3 with its protocols and wrong credentials, restarts, and a host
// between both that changes answers.
import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { skipWithout } from '../../../../lab/src/program.ts'
import { freeUdpPort, Snmpd, type SnmpdUser } from '../../../../lab/src/snmpd.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { authProtocols, privacyProtocols, type SnmpCredential, type V3Credential } from './credential.ts'
import { pduType, readMessageHeader } from './message-header.ts'
import { createSnmpSource } from './source.ts'

const { signal } = new AbortController()
const address = '127.0.0.1'
const v2c: SnmpCredential = { kind: 'v2c', community: 'public' }
const names = {
  md5: 'MD5',
  sha1: 'SHA',
  sha224: 'SHA-224',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
  aes128: 'AES',
  aes256b: 'AES-256',
  aes256r: 'AES-256-C',
} as const
const passwords = { authPassword: 'authpassword', privacyPassword: 'privpassword' }
const credentials: readonly V3Credential[] = authProtocols.flatMap((auth) =>
  privacyProtocols.map((privacy) => ({
    kind: 'v3' as const,
    user: `${auth}-${privacy}`,
    auth,
    privacy,
    ...passwords,
  })),
)
const users: readonly SnmpdUser[] = [
  ...credentials.map(({ user, auth, privacy }) => ({
    name: user,
    auth: names[auth!],
    privacy: names[privacy!],
    ...passwords,
    level: 'auth' as const,
  })),
  { name: 'open', level: 'noauth' },
  { name: 'strict', auth: 'SHA-256', privacy: 'AES', ...passwords, level: 'priv' },
]
const v3 = credentials.find(({ user }) => user === 'sha256-aes128')!

describe('the SNMP driver with snmpd', { skip: skipWithout('snmpd') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-snmpd-'))
  let snmpd: Snmpd
  before(async () => {
    snmpd = new Snmpd({ folder, address, port: await freeUdpPort(address), users })
    await snmpd.start()
  })
  after(async () => {
    await snmpd?.kill()
    rmSync(folder, { recursive: true })
  })

  const sourceWith = (credential: SnmpCredential, { port = snmpd.options.port, timeoutMs = 2_000 } = {}) =>
    createSnmpSource({ address, port, credential, timeoutMs })
  const probe = async (credential: SnmpCredential, options = {}) => {
    const source = sourceWith(credential, options)
    try {
      return await source.probe(signal)
    } finally {
      await source.close()
    }
  }
  const refusedPart = async (credential: SnmpCredential) => {
    const error = await probe(credential, { timeoutMs: 500 }).catch((error: unknown) => error)
    assert.ok(error instanceof DriverError, String(error))
    assert.doesNotMatch(JSON.stringify([error, error.message, error.cause]), /wrongpassword|authpassword/)
    return [error.kind, error.refused[0]?.subject]
  }

  it('reads the interfaces of the kernel', async () => {
    for (const credential of [v2c, v3]) {
      const source = sourceWith(credential)
      const lo = (await source.listInterfaces(signal)).find(({ key }) => key === 'lo')!
      assert.deepEqual([lo.type, lo.admin, lo.oper, lo.mac], [24, 'up', 'up', null])
      assert.ok(lo.addresses!.includes('127.0.0.1/8'))
      const { rows } = await source.readCounters(['lo'], signal)
      const kernel = BigInt(readFileSync('/sys/class/net/lo/statistics/rx_bytes', 'utf8'))
      assert.ok(rows[0]!.octetsIn! > 0n && rows[0]!.octetsIn! <= kernel)
      const metrics = new Set((await source.readHealth(signal)).map(({ metric }) => metric))
      assert.ok(metrics.has('memory') && metrics.has('latency'))
      await source.close()
    }
  })

  it('authenticates and encrypts with every protocol', async () => {
    for (const credential of credentials) assert.equal((await probe(credential)).vendor, 'Net-SNMP')
    assert.equal((await probe({ ...v3, privacy: null })).vendor, 'Net-SNMP')
    const open = { ...v3, user: 'open', auth: null, privacy: null }
    assert.equal((await probe(open)).vendor, 'Net-SNMP')
  })

  it('names the part of a credential that is wrong', async () => {
    const wrong = 'wrongpassword'
    assert.deepEqual(await refusedPart({ ...v3, user: 'nobody' }), ['refused', 'user'])
    assert.deepEqual(await refusedPart({ ...v3, authPassword: wrong }), ['refused', 'authPassword'])
    assert.deepEqual(await refusedPart({ ...v3, auth: 'sha1' }), ['refused', 'authPassword'])
    assert.deepEqual(await refusedPart({ ...v3, privacyPassword: wrong }), ['refused', 'privacyPassword'])
    assert.deepEqual(await refusedPart({ ...v3, privacy: 'aes256b' }), ['refused', 'privacyPassword'])
    assert.deepEqual(await refusedPart({ ...v3, user: 'strict', privacy: null }), ['refused', 'access'])
    const strict = { ...v3, user: 'strict' }
    assert.deepEqual(await refusedPart({ ...strict, privacyPassword: wrong }), ['refused', 'privacyPassword'])
    assert.deepEqual(await refusedPart({ ...strict, authPassword: wrong }), ['refused', 'authPassword'])
    const reeder = credentials.find(({ user }) => user === 'sha1-aes256r')!
    assert.deepEqual(await refusedPart({ ...reeder, privacy: 'aes256b' }), ['refused', 'privacy'])
    assert.deepEqual(await refusedPart({ kind: 'v2c', community: 'wrong' }), ['refused', 'community'])
  })

  it('keeps its session over a restart and a kill of the agent', async () => {
    const source = sourceWith(v3)
    const first = await source.probe(signal)
    for (const signalName of ['SIGTERM', 'SIGKILL'] as const) {
      await snmpd.kill(signalName)
      await assert.rejects(source.probe(signal), { kind: 'unreachable' })
      await snmpd.start()
      assert.equal((await source.probe(signal)).name, first.name)
    }
    await source.close()
  })

  it('accepts no answer with less security than its request', async () => {
    const authenticated = { ...v3, privacy: null }
    const [unsigned, changed] = [
      (octets: Buffer) => withoutFlag(octets),
      (octets: Buffer) => withOtherEnd(octets),
    ]
    for (const forge of [unsigned, changed]) {
      await using proxy = await startProxy(snmpd.options.port, forge)
      await assert.rejects(probe(authenticated, { port: proxy.port, timeoutMs: 300 }), { kind: 'protocol' })
    }
    await using honest = await startProxy(snmpd.options.port, (octets) => octets)
    assert.equal((await probe(authenticated, { port: honest.port })).vendor, 'Net-SNMP')
  })
})

const isReport = (datagram: Buffer): boolean => readMessageHeader(datagram)?.pduType === pduType.report

/** Clears the flag of authentication of an answer that is no report: the message flags are an octet string after the size. */
function withoutFlag(answer: Buffer): Buffer {
  if (isReport(answer)) return answer
  const at = answer.indexOf(Buffer.of(0x04, 0x01, 0x01))
  const forged = Buffer.from(answer)
  forged[at + 2] = 0
  return forged
}

/** Changes the last octet, which is of a value. */
function withOtherEnd(answer: Buffer): Buffer {
  if (isReport(answer)) return answer
  const forged = Buffer.from(answer)
  forged[forged.length - 1]! ^= 1
  return forged
}

/** A host between the driver and the agent. */
async function startProxy(port: number, forge: (answer: Buffer) => Buffer) {
  const [front, back] = [createSocket('udp4'), createSocket('udp4')]
  let client: RemoteInfo | undefined
  front.on('message', (request, remote) => {
    client = remote
    back.send(request, port, address)
  })
  back.on('message', (answer) => front.send(forge(answer), client!.port, client!.address))
  front.bind(0, address)
  await once(front, 'listening')
  return {
    port: front.address().port,
    async [Symbol.asyncDispose]() {
      front.close()
      back.close()
    },
  }
}
