import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

const script = new URL('debian-packages.mjs', import.meta.url).href
const hasApt = spawnSync('apt-get', ['--version']).status === 0

/** Locks a file as apt-get does, until it is killed: F_SETLK with a write lock on the whole file. */
const LOCK = `$| = 1; my $lock = pack("s s l! l! i", 1, 0, 0, 0, 0);
open F, ">", $ARGV[0]; fcntl(F, 6, $lock) or die; print "locked"; sleep 600`

it('apt-get waits for the lists, which another program has locked', { skip: !hasApt }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-apt-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, name), { recursive: true })
  const settings = {
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::sourcelist': '/dev/null',
    'Dir::Etc::sourceparts': '/dev/null',
  }
  const config = join(folder, 'apt.conf')
  writeFileSync(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(''),
  )
  const holder = spawn('perl', ['-e', LOCK, join(folder, 'lists/lock')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => holder.kill())
  assert.equal(await textOf(holder.stdout), 'locked')
  const program = `import { apt } from ${JSON.stringify(script)}; process.stdout.write(String(apt('update')))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, APT_CONFIG: config },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill())
  assert.match(
    await textOf(child.stderr),
    new RegExp(`^apt-get waits for the lock ${folder}/lists/lock\\. It is held by`),
  )
  holder.kill()
  assert.equal(await textOf(child.stdout), 'true')
})

/** The first text of a stream; undefined if it ends without. */
async function textOf(stream) {
  for await (const text of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) return text
  return undefined
}
