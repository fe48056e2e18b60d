// Checkouts of two releases that follow each other, whose servers run side by side on one database.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listMigrations } from '../../src/db/migrate.ts'

export type Release = {
  readonly version: string
  /** Its main.ts. */
  readonly program: string
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Returns the last release and this checkout. Before the first release: the last commit, and a copy of this checkout with a higher version,
 * an expand step and a contract step.
 */
export function prepareReleases(folder: string): { readonly old: Release; readonly next: Release } {
  const tag = lastTag()
  const old = archive(tag ?? 'HEAD', join(folder, 'old'))
  const next = tag === undefined ? addRelease(old.version, join(folder, 'next')) : releaseIn(root)
  return { old, next }
}

function lastTag(): string | undefined {
  const tags = execFileSync('git', ['tag', '--list', 'v*.*.*', '--sort=-version:refname'], { cwd: root })
  return tags.toString().split('\n')[0] || undefined
}

function archive(commit: string, folder: string): Release {
  mkdirSync(folder)
  const tar = execFileSync('git', ['archive', commit, 'server', 'contract', 'package.json'], {
    cwd: root,
    maxBuffer: 1024 ** 3,
  })
  execFileSync('tar', ['-x'], { cwd: folder, input: tar })
  linkPackages(folder)
  return releaseIn(folder)
}

function addRelease(oldVersion: string, folder: string): Release {
  for (const path of [
    'server/src',
    'server/package.json',
    'contract/src',
    'contract/package.json',
    'package.json',
  ])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  linkPackages(folder)
  const [major, minor] = oldVersion.split('.').map(Number)
  const version = `${major}.${minor! + 1}.0`
  const manifest = join(folder, 'server/package.json')
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace(/"version": ".*"/, `"version": "${version}"`),
  )
  addMigrations(join(folder, 'server/src/db/migrations'), oldVersion, version)
  return releaseIn(folder)
}

function addMigrations(folder: string, oldVersion: string, version: string): void {
  const last = listMigrations(folder).length
  const steps = [
    `-- phase: expand
-- runs with: ${oldVersion}

create table upgrade_notes (announcement_id integer not null references announcements on delete cascade, note text);
alter table announcements add column upgrade_note text default 'none';
`,
    `-- phase: contract
-- runs with: ${version}

update announcements set upgrade_note = 'none' where upgrade_note is null;
alter table announcements alter column upgrade_note set not null;
`,
  ]
  for (const [at, sql] of steps.entries())
    writeFileSync(join(folder, `${String(last + 1 + at).padStart(3, '0')}-upgrade-note-${at}.sql`), sql)
}

/** Its own contract, and the packages of this checkout. */
function linkPackages(folder: string): void {
  const packages = join(folder, 'node_modules')
  mkdirSync(join(packages, '@pharos'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => one !== '@pharos'))
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  symlinkSync('../../contract', join(packages, '@pharos/contract'))
  const ofServer = join(root, 'server/node_modules')
  if (existsSync(ofServer)) symlinkSync(ofServer, join(folder, 'server/node_modules'))
}

function releaseIn(folder: string): Release {
  const { version } = JSON.parse(readFileSync(join(folder, 'server/package.json'), 'utf8')) as {
    version: string
  }
  return { version, program: join(folder, 'server/src/main.ts') }
}
