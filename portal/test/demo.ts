// Starts Pharos as `npm start` does, with the demo platform and a separate data directory, for tests in a browser.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { freePort } from '../../lab/src/address.ts'
import { buildPortal } from '../../scripts/build-portal.mjs'

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const startTimeoutMs = 240_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** FastNetMon's message about an attack on an address of the demo team, the example of the README. */
export const ban = JSON.parse(
  readFileSync(new URL('../../docs/examples/fastnetmon-ban.json', import.meta.url), 'utf8'),
) as { readonly attack_details: object }

export class Demo {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pharos-portal-'))
  readonly #arguments: readonly string[]
  readonly #settings: Readonly<Record<string, string>>
  #child: ChildProcess | undefined
  #out = ''
  url = ''
  /** Where it answers DNS on 127.0.0.1, over UDP and TCP. */
  dnsPort = 0

  /** `settings`: additional settings, by the names of their variables. In its first minute it needs 6 s of processor time, with `traffic` 42 s. */
  constructor({
    traffic = false,
    settings = {},
  }: { traffic?: boolean; settings?: Readonly<Record<string, string>> } = {}) {
    this.#arguments = ['start', ...(traffic ? [] : ['--no-traffic'])]
    this.#settings = settings
  }

  /** Resolves with the address from the log once it listens. */
  async start(): Promise<void> {
    await buildPortal()
    this.dnsPort = await freePort()
    const child = spawn(process.execPath, [main, ...this.#arguments], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        // Chosen before the start: links in mails contain it.
        PHAROS_PORT: String(await freePort()),
        PHAROS_DNS_LISTEN: `127.0.0.1:${this.dnsPort}`,
        PHAROS_NETFLOW_LISTEN: '127.0.0.1:0',
        PHAROS_SFLOW_LISTEN: '127.0.0.1:0',
        // Tests sign in more often than users do.
        PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000',
        PHAROS_RATE_LIMIT_BURST: '100000',
        ...this.#settings,
      },
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#out += text))
    this.#child = child
    for (const begun = performance.now(); this.url === ''; await sleep(100)) {
      this.url = /http:\/\/127\.0\.0\.1:\d+/.exec(this.#out)?.[0] ?? ''
      if (child.exitCode !== null || performance.now() - begun > startTimeoutMs)
        throw new Error(`the demo does not start:\n${this.#out.slice(-3000)}`)
    }
  }

  /** Variables with which a command of the operator finds this demo. */
  get environment(): { readonly PHAROS_DATA_DIR: string } {
    return { PHAROS_DATA_DIR: join(this.#folder, 'data') }
  }

  /** Mails to the address as they would be sent, oldest first. */
  mailsTo(address: string): string[] {
    const folder = join(this.#folder, 'data/mails')
    const names = readdirSync(folder).filter((name) => name.endsWith('.eml'))
    return names
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .filter((mail) => mail.includes(`To: ${address}`))
  }

  /**
   * Disables every announcement by SQL. No request explains the withdrawals, so the guard opens a hold in each region.
   */
  async disableUnasked(): Promise<void> {
    const file = join(this.#folder, 'data/postgres/postmaster.pid')
    const [, , , port, socketDir] = readFileSync(file, 'utf8').split('\n')
    const client = new Client({ host: socketDir!, port: Number(port), user: 'pharos', database: 'pharos' })
    await client.connect()
    try {
      await client.query(`
        with off as (update announcements set enabled = false where enabled returning id)
        update announcement_regions ar set state = 'withdrawing', reason = null, attrs = null,
          changes = changes || clock_timestamp()
        from off where ar.announcement_id = off.id and ar.state = 'announced'`)
      await client.query(`select pg_notify('pharos', 'announcements')`)
    } finally {
      await client.end()
    }
  }

  /** A request of an operator or a detector, outside of the browser. */
  async post(path: string, body: unknown, authorization: string): Promise<void> {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child && child.exitCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
