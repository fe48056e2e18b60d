// `pharos start` as a user runs it: its output, and the state when it reports that it is ready.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../lab/src/address.ts'
import { waitFor } from '../../lab/src/wait.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pharos-start-'))
/** All of the product starts: more than one state. */
const startLimit = { timeoutMs: 540_000 }
const children = new Set<ChildProcess>()

process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))
after(async () => {
  const ends = [...children].map((child) => once(child, 'exit'))
  children.forEach((child) => child.kill('SIGTERM'))
  await Promise.all(ends)
  rmSync(folder, { recursive: true })
})

function start(settings: Readonly<Record<string, string>>) {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [main, 'start', '--no-portal'], {
    cwd: folder,
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const printed = { out: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.errors += text))
  return { child, printed }
}

async function takePort(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

describe('pharos start', () => {
  for (const [variable, of] of [
    ['PHAROS_PORT', (port: number) => String(port)],
    ['PHAROS_DNS_LISTEN', (port: number) => `127.0.0.1:${port}`],
  ] as const)
    it(`ends with one sentence if the port of ${variable} is in use`, async () => {
      const { server, port } = await takePort()
      const { child, printed } = start({ PHAROS_PORT: '0', [variable]: of(port) })
      const [status] = await once(child, 'close')
      server.close()
      assert.deepEqual(
        [status, printed],
        [
          1,
          {
            out: '',
            errors: `127.0.0.1:${port} is used by another program: stop it, or set ${variable} to another port.\n`,
          },
        ],
      )
    })

  it('prints its steps, and has the bill of last month and the name of the provider when it is ready', async () => {
    const port = await freePort()
    const { child, printed } = start({
      PHAROS_PORT: String(port),
      PHAROS_DNS_LISTEN: '127.0.0.1:0',
      PHAROS_NETFLOW_LISTEN: '127.0.0.1:0',
      PHAROS_SFLOW_LISTEN: '127.0.0.1:0',
    })
    const url = `http://127.0.0.1:${port}`
    const ready = new RegExp(`\\nReady: ${url} sign in as demo@demo\\.example with the password \\S+\\n`)
    await waitFor(
      'the demo is ready',
      () => {
        assert.equal(child.exitCode, null, printed.errors)
        return ready.test(printed.out)
      },
      startLimit,
    )
    const steps = printed.out.split('\n').flatMap((line) => /^ *[\d.]+ s {2}(\w+)/.exec(line)?.[1] ?? [])
    assert.deepEqual(steps, ['Starting', 'Creating', 'Loading', 'Adding', 'Waiting', 'Starting'])

    const call = await signIn(url)
    const { results: services } = await call<{ results: { id: number }[] }>('/services')
    const complete = (await Promise.all(services.map(({ id }) => recount(call, id)))).flat()
    const day = 86_400_000
    const [oldest] = complete.map(({ period }) => Date.parse(`${period}-01`)).sort((a, b) => a - b)
    assert.ok(complete.length >= 3 && Date.now() - oldest! < 63 * day, 'the bills of the last month')

    const mails = join(folder, 'data/mails')
    const [file] = await waitFor('a mail', () => {
      const names = readdirSync(mails).filter((name) => name.endsWith('.eml'))
      return names.length > 0 && names
    })
    assert.match(readFileSync(join(mails, file!), 'utf8'), /^From: Example Transit <noc@example\.net>\r?$/m)

    child.kill('SIGTERM')
    const [status] = await once(child, 'close')
    assert.deepEqual([status, printed.errors], [0, ''])
  })
})

type Call = <T>(path: string) => Promise<T>

async function signIn(url: string): Promise<Call> {
  const { access } = await answerOf<{ access: string }>(`${url}/v3/session/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'demo@demo.example', password: 'pharos-demo-password' }),
  })
  return (path) => answerOf(`${url}/v3/inventory${path}`, { headers: { authorization: `Bearer ${access}` } })
}

/** On a busy machine the server answers 503 for a time. Returns JSON, or the octets of another type. */
function answerOf<T>(url: string, init: RequestInit): Promise<T> {
  return waitFor(url, async () => {
    const response = await fetch(url, init)
    if (response.status === 503) return undefined
    assert.equal(response.status, 200, url)
    const isJson = response.headers.get('content-type')?.includes('json')
    return (isJson ? await response.json() : Buffer.from(await response.arrayBuffer())) as T
  })
}

type Period = {
  readonly period: string
  readonly port_id: number | null
  readonly samples_sha256: string
  readonly missing_samples: number
}

/**
 * Compares the bills of the newest closed month with the samples as of now. Returns the bills of ports that were up.
 */
async function recount(call: Call, service: number): Promise<Period[]> {
  const { results } = await call<{ results: Period[] }>(
    `/services/${service}/billing-periods?ordering=-period`,
  )
  const newest = results.filter(({ period }) => period === results[0]!.period)
  for (const { period, port_id: port, samples_sha256: expected } of newest) {
    const query = `period=${period}${port === null ? '' : `&port_id=${port}`}`
    const samples = await call<Buffer>(`/services/${service}/billing-samples?${query}`)
    assert.equal(hash('sha256', samples), expected, `${service} ${query}`)
  }
  return newest.filter(({ missing_samples: missing }) => missing === 0)
}
