// Every setting in the files that are distributed exists, and its value is accepted.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { agentKeys } from '../server/src/byoip/regions/handed-routes.ts'
import { readAgentOptions } from '../server/src/commands/agent.ts'
import { readConfiguration } from '../server/src/commands/configuration.ts'
import { allRoles } from '../server/src/runtime/role.ts'
import type { Environment, Files } from '../server/src/runtime/config.ts'
import { createKeyRing } from '../server/src/runtime/secrets.ts'
import { manifestOf, repository } from './release.ts'

const { version } = manifestOf(repository)
const read = (path: string) => readFileSync(join(repository, 'dist', path), 'utf8')

/** Secrets and pharos.yaml as an operator has them; no other file exists. */
const filesOf = (texts: Readonly<Record<string, string>>): Files => ({
  read: (path) => texts[path],
  mode: () => 0o600,
  create: () => assert.fail('no file is created'),
})

const secret = 'k'.repeat(48)

describe('compose.yaml', () => {
  type Service = {
    image: string
    command?: string[]
    environment?: Record<string, string>
    secrets?: string[]
    depends_on?: Record<string, unknown>
    volumes?: string[]
  }
  type Compose = { services: Record<string, Service>; secrets: object; volumes: object }
  const compose = parse(read('compose.yaml'), { merge: true }) as Compose
  const services = Object.entries(compose.services)
  const ours = services.filter(([, { image }]) => image.startsWith('localhost/pharos:'))

  it('has the images of this version', () => {
    const images = services.map(([, { image }]) => image).filter((image) => image.startsWith('localhost/'))
    assert.equal(ours.length, 4)
    for (const image of images) assert.match(image, new RegExp(`:${version.replaceAll('.', '\\.')}$`))
    for (const [, tag] of read('compose.yaml').matchAll(/pharos(?:-gobgpd)?[-:](\d\S*?)(?:\.oci\.tar|\s)/g))
      assert.equal(tag, version)
  })

  for (const [name, { environment = {} }] of ours) {
    it(`${name}: every setting exists, with a value that Pharos accepts`, () => {
      const env = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, value.replace(/\$\{\w+:-(.*)\}/, '$1')]),
      )
      const config = readConfiguration(
        { ...env, PHAROS_HOST: '0.0.0.0' },
        filesOf({
          '/run/secrets/secret': secret,
          '/run/secrets/database-url': 'postgres://pharos:password@postgres/pharos',
          '/run/secrets/clickhouse-url': 'http://pharos:password@clickhouse:8123/pharos',
        }),
      )
      assert.equal(config.databaseUrl, 'postgres://pharos:password@postgres/pharos')
    })
  }

  it('runs every role once', () => {
    const roles = ours.flatMap(([, { command = [] }]) => command.slice(2).flatMap((list) => list.split(',')))
    assert.deepEqual(roles.toSorted(), allRoles.toSorted())
  })

  it('refers only to services, secrets and volumes that it has', () => {
    for (const [, { secrets = [], depends_on = {}, volumes = [] }] of services) {
      for (const name of secrets) assert.ok(name in compose.secrets, name)
      for (const name of Object.keys(depends_on)) assert.ok(name in compose.services, name)
      const named = volumes.map((volume) => volume.split(':')[0]!).filter((volume) => !volume.startsWith('.'))
      for (const name of named) assert.ok(name in compose.volumes, name)
    }
  })
})

describe('the Debian package', () => {
  const yaml = read('debian/pharos.yaml')
  const credentials = { '/cred/secret': secret, '/cred/database-url': 'postgres://pharos@127.0.0.1/pharos' }
  const files = (text: string) => filesOf({ ...credentials, '/etc/pharos/pharos.yaml': text })

  it('has a pharos.yaml that Pharos accepts, with its comments too', () => {
    const env = { PHAROS_CONFIG: '/etc/pharos/pharos.yaml', PHAROS_SECRET: secret }
    assert.equal(readConfiguration(env, files(yaml)).dataDir, '/var/lib/pharos')
    const all = yaml.replaceAll(/^# (?=\w+: (?!.*: ))/gm, '')
    assert.equal(readConfiguration(env, files(all)).providerAsn, 64_500)
  })

  for (const unit of ['pharos.service', 'pharos@.service']) {
    it(`has a unit ${unit} whose settings exist`, () => {
      const config = readConfiguration(environmentOf(read(`systemd/${unit}`)), files(yaml))
      assert.match(config.dataDir, /^\/var\/lib\/pharos/)
      assert.equal(config.databaseUrl, 'postgres://pharos@127.0.0.1/pharos')
    })
  }
})

it('the unit of the agent calls it with all of its options, which its example has', async () => {
  const unit = read('systemd/pharos-agent.service')
  const example = new Map([...unit.matchAll(/^#   ([A-Z]+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  example.set('KEY', agentKeys(createKeyRing([secret]))[0])
  const [, line = ''] = /^ExecStart=\/usr\/lib\/pharos\/bin\/pharos agent (.*)$/m.exec(unit) ?? []
  const args = line
    .replace('%S', '/var/lib')
    .replaceAll(/\$\{([A-Z]+)\}/g, (_, name: string) => example.get(name) ?? assert.fail(name))
    .split(' ')
  const options = readAgentOptions(args)
  assert.deepEqual([options.address, options.owner], ['127.0.0.1:50051', '64500:1:1'])
  assert.equal(unit.match(/^StateDirectory=(.*)$/m)?.[1], options.stateDir.replace('/var/lib/', ''))
})

/** The environment that systemd makes: `%d` is the folder of credentials, `%S` that of states, `%i` the instance. */
function environmentOf(unit: string): Environment {
  const words = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) => line!.split(' '))
  const replaced = words.map((word) =>
    word.replace('%d', '/cred').replace('%S', '/var/lib').replace('%i', 'api'),
  )
  return Object.fromEntries(replaced.map((word) => word.split('=') as [string, string]))
}
