import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { archiveSettings, pgbackrestSettings } from './backed-up-postgres.ts'
import { gobgpdConfig } from './gobgpd.ts'
import { patroniSettings, proxyConfiguration } from './ha-postgres.ts'
import { programPath, skipWithout } from './program.ts'

const run = promisify(execFile)
const sample = new URL('../../docs/operating/gobgpd.toml', import.meta.url)
const unit = new URL('../../docs/operating/gobgpd.service', import.meta.url)

it('ships a sample configuration that gobgpd accepts', { skip: skipWithout('gobgpd') }, async () => {
  await run(programPath('gobgpd'), ['-d', '-f', sample.pathname])
})

it('ships a sample configuration with the settings that the lab is tested with', async () => {
  const lab = gobgpdConfig({
    folder: '',
    address: '192.0.2.1',
    bgpPort: 179,
    apiPort: 50051,
    asn: 64500,
    neighbors: [{ address: '192.0.2.254', port: 179, asn: 64501 }],
    deferralSeconds: 30,
  })
  const shipped = settings(await readFile(sample, 'utf8'))
  const labOnly = [/^ {2}port = /, /local-address/, /remote-port/, /ebgp-multihop/, /multihop/]
  const kept = lab
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !labOnly.some((pattern) => pattern.test(`  ${line}`)))
  assert.deepEqual(
    kept.filter((line) => !shipped.has(line)),
    [],
  )
})

it('has a deferral time below the restart time of the neighbors', async () => {
  const text = await readFile(sample, 'utf8')
  const seconds = (name: string): number[] =>
    [...text.matchAll(new RegExp(`^ *${name} = (\\d+)`, 'gm'))].map(([, number]) => Number(number))
  assert.equal(seconds('deferral-time').length, 2)
  assert.ok(Math.max(...seconds('deferral-time')) < Math.min(...seconds('restart-time')))
})

it('shows the configuration of HAProxy and Patroni with which the lab is tested', async () => {
  const page = await readFile(new URL('../../docs/operating/high-availability.md', import.meta.url), 'utf8')
  const members = ['one', 'two', 'three'].map((name, at) => ({ name, address: `192.0.2.${at + 11}` }))
  assert.ok(page.includes(proxyConfiguration('127.0.0.1', members)))
  const [, yaml = ''] = /```yaml\n([^]*?)```/.exec(page) ?? []
  assert.deepEqual(parse(yaml), { bootstrap: { dcs: patroniSettings } })
})

it('shows the configuration of pgBackRest with which the lab is tested', async () => {
  const page = await readFile(new URL('../../docs/operating/backup.md', import.meta.url), 'utf8')
  const settings = pgbackrestSettings({
    repository: '/var/lib/pgbackrest',
    logs: '/var/log/pgbackrest',
    locks: '/tmp/pgbackrest',
    spool: '/var/spool/pgbackrest',
    data: '/var/lib/postgresql/15/main',
    socket: '/var/run/postgresql',
    user: 'postgres',
  })
  assert.ok(page.includes(`\`\`\`ini\n${settings}\`\`\``), settings)
  assert.ok(page.includes(`\`\`\`ini\n${archiveSettings('pgbackrest')}\`\`\``))
})

it('ships a unit file that kills without a BGP notification and restarts with -r, at once and forever', async () => {
  const text = await readFile(unit, 'utf8')
  for (const line of ['KillSignal=SIGKILL', 'Restart=always', 'RestartSec=0', 'StartLimitIntervalSec=0'])
    assert.ok(text.split('\n').includes(line), line)
  const [start] = /^ExecStart=.*$/m.exec(text) ?? ['']
  assert.match(start, / -r /)
  assert.match(start, /--api-hosts 127\.0\.0\.1:50051/)
})

function settings(text: string): Set<string> {
  return new Set(text.split('\n').map((line) => line.replace(/ #.*| {3}#.*/, '').trim()))
}
