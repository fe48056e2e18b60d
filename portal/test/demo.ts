// Starts Pharos as `npm start` does, with the demo platform and a data directory of its own, for tests in a browser.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../lab/src/address.ts'
import { buildPortal } from '../../scripts/build-portal.mjs'
import { copyDemoData, demoQuery, endDemo, spawnDemo, type DemoKind, type DemoProcess } from './demo-data.ts'

/** FastNetMon's message about an attack on an address of the demo team, the example of the README. */
export const ban = JSON.parse(
  readFileSync(new URL('../../docs/examples/fastnetmon-ban.json', import.meta.url), 'utf8'),
) as { readonly attack_details: object }

export class Demo {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pharos-portal-'))
  readonly #kind: DemoKind
  readonly #settings: Readonly<Record<string, string>>
  #process: DemoProcess | undefined
  url = ''
  /** Where it answers DNS on 127.0.0.1, over UDP and TCP. */
  dnsPort = 0

  /** `settings`: additional settings, by the names of their variables. With `traffic` it has flows, and sends more. */
  constructor({
    traffic = false,
    settings = {},
  }: { traffic?: boolean; settings?: Readonly<Record<string, string>> } = {}) {
    this.#kind = traffic ? 'traffic' : 'plain'
    this.#settings = settings
  }

  /** Resolves once it listens. */
  async start(): Promise<void> {
    await buildPortal()
    await copyDemoData(this.#folder, this.#kind)
    this.dnsPort = await freePort()
    this.#process = await spawnDemo(this.#folder, this.#kind, {
      PHAROS_DNS_LISTEN: `127.0.0.1:${this.dnsPort}`,
      // Zones are transferred from the demo itself.
      PHAROS_DNS_PORTS_ALLOWED: `53,${this.dnsPort}`,
      // Tests sign in more often than users do.
      PHAROS_SIGN_IN_LIMIT_PER_MINUTE: '1000',
      PHAROS_RATE_LIMIT_BURST: '100000',
      ...this.#settings,
    })
    this.url = this.#process.url
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
   * Disables every announcement by SQL. No request explains the withdrawals, so an approval opens in each region.
   */
  async disableUnasked(): Promise<void> {
    await demoQuery(
      this.#folder,
      `with off as (update announcements set enabled = false where enabled returning id)
      update announcement_regions ar set state = 'withdrawing', reason = null, attrs = null,
        changes = changes || clock_timestamp()
      from off where ar.announcement_id = off.id and ar.state = 'announced'`,
      `select pg_notify('pharos', 'announcements')`,
    )
  }

  /** Verifies a domain for a team, as if its TXT record had been found. */
  async verifyDomain(domain: string, teamSlug: string): Promise<void> {
    await demoQuery(
      this.#folder,
      `insert into domains (team_id, domain, verified, due)
      select id, '${domain}', now(), null from teams where slug = '${teamSlug}'`,
      `update installation set schema_floor = '0.3.0-rc.1'`,
    )
  }

  /** Changes rows that no operation of the API changes. */
  async change(...statements: readonly string[]): Promise<void> {
    await demoQuery(this.#folder, ...statements)
  }

  /** A request of an operator or a detector, outside of the browser. */
  async post(path: string, body: unknown, authorization: string): Promise<void> {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }

  async stop(): Promise<void> {
    if (this.#process) await endDemo(this.#process)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
