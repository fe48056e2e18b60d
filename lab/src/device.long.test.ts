// A real device becomes a port with traffic: an operator adds it to the platform file of a running product, and the customer sees its
// interfaces and the octets of iperf3. A wrong password is named as such.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { freePort } from './address.ts'
import { createNamespace, skipWithoutNamespaces } from './namespace.ts'
import { Pharos } from './pharos.ts'
import { connectPort, sendOctets } from './port-traffic.ts'
import { skipWithout } from './program.ts'
import { Snmpd } from './snmpd.ts'
import { waitFor } from './wait.ts'

const skip = skipWithout('snmpd', 'iperf3', 'ip') || skipWithoutNamespaces()
const octetsSent = 200_000_000
const password = 'a-password-for-the-lab'
const [authPassword, privacyPassword] = ['authpassword', 'privpassword']
const user = {
  name: 'pharos',
  auth: 'SHA-256',
  privacy: 'AES',
  authPassword,
  privacyPassword,
  level: 'priv',
} as const
/** A poll is due every minute; two are needed for a rate, and a third minute to see the end of the bucket. */
const timeoutMs = 240_000

describe('a device that is added to the platform file', { skip, timeout: 600_000 }, () => {
  it('appears with its interfaces and its traffic; a wrong password is shown as refused', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'pharos-device-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    const device = stack.use(await createNamespace())
    const customer = stack.use(await createNamespace())
    await connectPort(device, customer)
    const agent = { folder, address: device.address, port: 161, users: [user], within: device.command }
    await stack.use(new Snmpd(agent)).start()

    const platformFile = join(folder, 'platform.yaml')
    const write = (devices: object) => writeFileSync(platformFile, JSON.stringify({ ...people, ...devices }))
    const pharos = stack.use(new Pharos({ folder, platformFile, port: await freePort('127.0.0.1', 8080) }))
    write({})
    await pharos.start()
    await pharos.apply()
    const get = await signIn(pharos)
    assert.deepEqual((await get('/v3/inventory/ports')).results, [])

    writeFileSync(join(folder, 'auth'), authPassword)
    writeFileSync(join(folder, 'privacy'), privacyPassword)
    writeFileSync(join(folder, 'wrong'), 'another-password')
    write(devicesAt(device.address))
    await pharos.apply()
    const read = await waitFor('both devices were asked', async () => {
      const { results } = await get('/v3/admin/inventory/devices')
      return results.every(({ last_seen, error }) => last_seen ?? error) && results.length === 2 && results
    })
    const stateOf = (name: string) => read.find((one) => one['name'] === name)!
    assert.equal(stateOf('edge2')['error'], 'refused', JSON.stringify(stateOf('edge2')))
    assert.match(String(stateOf('edge2')['error_text']), /password/)
    assert.equal(stateOf('edge1')['error'], null)
    assert.ok(Number(stateOf('edge1')['interfaces']) >= 2)

    const [port] = (await get('/v3/inventory/ports')).results
    assert.equal(port!['oper_status'], 'up')
    await sendOctets(device, customer, octetsSent, folder)
    await waitFor(
      'the traffic is in the usage of the port',
      async () => {
        const { octets_in, series } = await get(
          `/v3/inventory/ports/${String(port!['id'])}/usage?interval=60`,
        )
        const peak = Math.max(0, ...series.flatMap(({ values }) => values.map(Number)))
        // The customer sends; a poll divides them among the minutes that it covers.
        return octets_in !== undefined && (peak * 60) / 8 > octetsSent / 3
      },
      { timeoutMs, everyMs: 5_000 },
    )
  })
})

const people = {
  locations: [{ key: 'lab', name: 'Laboratory', country: 'NL', timezone: 'Europe/Amsterdam' }],
  teams: [{ slug: 'lab', name: 'Laboratory', modules: ['inventory'] }],
  users: [{ email: 'lab@lab.example', password, staff: true, teams: [{ team: 'lab', admin: true }] }],
  services: [{ team: 'lab', name: 'Transit', type: 'transit' }],
}

const devicesAt = (address: string) => {
  const credential = (name: string, file: string) => ({
    name,
    version: 'v3',
    user: user.name,
    auth: 'sha256',
    auth_password_file: file,
    privacy: 'aes128',
    privacy_password_file: 'privacy',
  })
  const one = (name: string) => ({ name, role: 'edge', location: 'lab', driver: 'snmp', address })
  return {
    credentials: [credential('right', 'auth'), credential('wrong', 'wrong')],
    devices: [
      { ...one('edge1'), credential: 'right' },
      { ...one('edge2'), credential: 'wrong' },
    ],
    ports: [
      {
        circuit_id: 'LAB-1',
        device: 'edge1',
        interface: 'port0',
        team: 'lab',
        service: 'Transit',
        since: '2026-01-31T00:00:00Z',
      },
    ],
  }
}

type Answer = {
  readonly results: Record<string, unknown>[]
  readonly octets_in?: number | null
  readonly series: { readonly values: (number | null)[] }[]
}

/** Returns the body of a GET. */
async function signIn({ url }: Pharos): Promise<(path: string) => Promise<Answer>> {
  const response = await fetch(`${url}/v3/session/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'lab@lab.example', password }),
  })
  const { access } = (await response.json()) as { access: string }
  return async (path) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${access}` } })
    assert.equal(answer.status, 200, path)
    return (await answer.json()) as Answer
  }
}
