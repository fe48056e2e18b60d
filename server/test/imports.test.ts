// The allowed imports as a table, the layers of folders within modules, no cycles of files or folders, types included, and a limit on
// names with several meanings. The test reads every source file, so that a forbidden import fails here instead of in a review.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '../..')

/**
 * A module may import itself and these. `contract` stands for the whole workspace, `type:` for `import type` only. A folder inside
 * a module may have a separate row, and is then a module.
 */
const allowed: Record<string, readonly string[]> = {
  contract: ['typebox', 'eventsource-parser'],
  net: [],
  'net/dns': ['net'],
  text: ['contract', 'packages'],
  'registry/objects': ['net'],
  runtime: ['net', 'text', 'contract', 'packages'],
  operation: ['contract', 'runtime'],
  db: ['operation', 'runtime', 'net', 'contract', 'packages'],
  http: ['contract', 'operation', 'runtime', 'text', 'brand', 'packages'],
  // The resources of limited tokens and keys: their rows, and the objects of a path.
  limit: ['contract', 'net', 'net/dns', 'text', 'operation', 'runtime', 'db', 'packages'],
  // Leases and loops of targets outside of the database. It knows no domain.
  reconcile: ['runtime', 'db', 'packages'],
  registry: ['contract', 'registry/objects', 'net', 'runtime', 'packages'],
  drivers: [
    'contract',
    'net',
    'net/dns',
    'text',
    'runtime',
    'registry/objects',
    'packages',
    'type:registry',
    'type:byoip',
    'type:dns',
    'type:team',
    'identity',
    'type:mail',
    'type:webhook',
    'type:inventory',
    'type:flow',
    'type:shield',
  ],
  timeseries: ['contract', 'runtime', 'text', 'packages'],
  mail: ['contract', 'text', 'runtime', 'db', 'packages'],
  audit: ['contract', 'net', 'operation', 'runtime', 'db', 'packages'],
  team: ['contract', 'net', 'text', 'operation', 'runtime', 'db', 'mail', 'packages'],
  session: ['contract', 'net', 'text', 'operation', 'runtime', 'db', 'limit', 'mail', 'team', 'packages'],
  // Identity providers of teams: who may sign in with them, to which account, with which roles.
  identity: ['contract', 'net', 'text', 'operation', 'runtime', 'db', 'mail', 'team', 'session', 'packages'],
  webhook: ['contract', 'net', 'operation', 'runtime', 'db', 'mail', 'team', 'packages'],
  outbox: ['contract', 'runtime', 'db', 'packages'],
  stream: ['contract', 'operation', 'runtime', 'db', 'outbox', 'packages'],
  notification: ['contract', 'operation', 'runtime', 'db', 'outbox', 'mail', 'packages'],
  approval: ['contract', 'operation', 'runtime', 'db', 'mail', 'outbox', 'packages'],
  // Compares the database with the network after a restore; the domains apply the decisions of staff.
  restore: ['contract', 'audit', 'operation', 'runtime', 'db', 'mail', 'packages'],
  inventory: [
    'contract',
    'net',
    'operation',
    'runtime',
    'db',
    'registry',
    'registry/objects',
    'outbox',
    'team',
    'timeseries',
    'text',
    'packages',
  ],
  byoip: [
    'contract',
    'limit',
    'approval',
    'reconcile',
    'net',
    'text',
    'operation',
    'runtime',
    'db',
    'registry',
    'registry/objects',
    'mail',
    'outbox',
    'team',
    'inventory',
    'packages',
  ],
  dns: [
    'contract',
    'limit',
    'approval',
    'net',
    'net/dns',
    'text',
    'operation',
    'runtime',
    'db',
    'outbox',
    'team',
    'inventory',
    'packages',
  ],
  flow: ['contract', 'net', 'text', 'operation', 'runtime', 'db', 'timeseries', 'packages'],
  events: [
    'contract',
    'net',
    'text',
    'operation',
    'runtime',
    'db',
    'timeseries',
    'outbox',
    'inventory',
    'flow',
    'packages',
  ],
  // Receives flows and finds attacks in them; its reports are deliveries of events.
  collector: ['contract', 'net', 'runtime', 'db', 'inventory', 'flow', 'events', 'packages'],
  shield: [
    'contract',
    'approval',
    'reconcile',
    'net',
    'text',
    'operation',
    'runtime',
    'db',
    'timeseries',
    'outbox',
    'flow',
    'events',
    'packages',
  ],
  // Rules on the series of other domains: it reads them with the functions behind their charts.
  alert: ['contract', 'operation', 'runtime', 'db', 'timeseries', 'outbox', 'inventory', 'byoip', 'packages'],
  // Finds rows of every domain: its sources read their tables.
  search: ['contract', 'net', 'operation', 'runtime', 'db', 'byoip', 'dns', 'inventory', 'packages'],
  // Reads with the operations of the domains that it reports.
  report: [
    'contract',
    'net',
    'text',
    'operation',
    'runtime',
    'db',
    'mail',
    'notification',
    'events',
    'flow',
    'inventory',
    'packages',
    'type:brand',
  ],
  brand: ['runtime', 'db', 'text', 'packages'],
  // The operator's side: the platform file writes the tables of every domain; commands, parts and the process connect everything.
  platform: [
    'contract',
    'limit',
    'net',
    'net/dns',
    'text',
    'operation',
    'runtime',
    'db',
    'session',
    'team',
    'byoip',
    'events',
    'type:shield',
    'approval',
    'brand',
    'inventory',
    'drivers',
    'packages',
  ],
  // The first run: its account is a platform document.
  setup: ['contract', 'operation', 'runtime', 'db', 'session', 'platform', 'packages'],
  // The state of the installation: it reads the tables of every domain.
  status: [
    'contract',
    'approval',
    'operation',
    'runtime',
    'db',
    'registry',
    'byoip',
    'inventory',
    'collector',
    'dns',
    'events',
    'type:flow',
    'webhook',
    'restore',
    'platform',
    'packages',
  ],
  commands: ['*'],
  // The `parts.ts` of all modules: each connects its module with drivers and other modules.
  parts: ['*'],
  process: ['*'],
  main: ['commands', 'db', 'runtime', 'packages'],
}

type Import = { readonly from: string; readonly to: string; readonly typeOnly: boolean }

const importPattern =
  /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(importPattern)].map((match) => ({
    from,
    to: resolveImport(from, (match[2] ?? match[3] ?? match[4])!),
    typeOnly: match[1] !== undefined,
  }))
}

function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(from), specifier))
  if (specifier.startsWith('@pharos/')) return specifier.slice('@pharos/'.length)
  return `package:${specifier}`
}

/** Composition, such as `dns/parts.ts` and `dns/nameserver.parts.ts`. */
const isParts = (path: string): boolean => /^server\/src\/[^/]+\/(\w+\.)?parts\.ts$/.test(path)

/** Composition is the top: only these import it. */
const composing = new Set(['parts', 'process', 'commands'])

/** Returns the module of a path: byoip for `server/src/byoip/regions/plan.ts`; for a package, its name. */
function moduleOf(path: string): string {
  if (path.startsWith('package:')) return path.slice('package:'.length)
  const parts = path.split('/')
  if (parts[0] !== 'server') return parts[0]!
  if (parts[1] !== 'src') return `server/${parts[1]}`
  if (isParts(path)) return 'parts'
  const folder = `${parts[2]}/${parts[3]}`
  if (folder in allowed) return folder
  return parts.length === 3 ? parts[2]!.replace(/\.ts$/, '') : parts[2]!
}

/** Returns why the import is not allowed; undefined if it is. */
function violationOf({ from, to, typeOnly }: Import): string | undefined {
  const [source, target] = [moduleOf(from), moduleOf(to)]
  const rules = allowed[source]
  if (['parts', 'process'].includes(target) && !composing.has(source)) return `${target} must not be imported`
  if (!rules || rules.includes('*') || source === target) return domainViolation(from, to)
  if (to.startsWith('package:')) {
    const free = to.startsWith('package:node:')
      ? !['contract', 'net', 'registry/objects'].includes(source)
      : rules.includes('packages')
    return free || rules.includes(target.split('/')[0]!)
      ? undefined
      : `${source} may not use the package ${target}`
  }
  if (target === 'http' && from.endsWith('.routes.ts')) return undefined
  if (typeOnly && rules.includes(`type:${target}`)) return undefined
  return rules.includes(target) ? domainViolation(from, to) : `${source} may not import ${target}`
}

const domains = new Set([
  'alert',
  'approval',
  'mail',
  'audit',
  'team',
  'session',
  'webhook',
  'outbox',
  'stream',
  'notification',
  'registry',
  'inventory',
  'byoip',
  'dns',
  'flow',
  'events',
  'collector',
  'shield',
])

/** Returns the folder in `server/src` of a path; empty for composition. */
const domainOf = (path: string): string =>
  isParts(path) ? '' : (/^server\/src\/([^/]+)\//.exec(path)?.[1] ?? '')

/** Within and between domains: stores import no routes, routes no stores, and no module the store of another domain. */
function domainViolation(from: string, to: string): string | undefined {
  const [source, target] = [domainOf(from), domainOf(to)]
  if (from.endsWith('.routes.ts') && to.endsWith('.store.ts'))
    return 'a route goes through its use-case, not to the store'
  if (from.endsWith('.store.ts') && to.endsWith('.routes.ts')) return 'a store knows no HTTP'
  if (domains.has(source) && domains.has(target) && source !== target && to.endsWith('.store.ts')) {
    return 'another domain is entered through its aggregate, not its store'
  }
  return undefined
}

/**
 * The folders of a module in their order: a folder imports only from entries before its own, and the files of the module itself, unless an entry names
 * them as '', from all.
 */
const layers: Record<string, readonly (readonly string[])[]> = {
  contract: [
    [''],
    ['flow', 'reason', 'session'],
    ['byoip', 'dns', 'inventory', 'team'],
    ['alert', 'events', 'shield'],
    ['operator'],
    ['messages'],
    ['examples'],
    ['document'],
  ],
  byoip: [['status'], ['validation', 'visibility'], ['announcement'], ['letter', 'regions'], ['blackhole']],
  dns: [
    ['sign', 'zone-file'],
    ['answer', 'zone'],
    ['dnssec', 'import', 'reverse', 'serve', 'settings'],
    ['alias', 'version'],
    ['publish', 'recordset'],
    ['powerdns', 'update'],
  ],
  inventory: [
    ['gauge', 'usage'],
    ['assignment'],
    ['attachment', 'bgp', 'bill'],
    ['collect', 'holding'],
    ['cross-connect', 'device', 'optics'],
    ['port'],
    ['metrics'],
  ],
  events: [['event', 'place'], ['relate', 'sources'], ['ingest'], ['attachment'], ['list']],
  collector: [['detector']],
  platform: [['engine'], ['kinds']],
}

/** Returns the folder of a module, such as `contract/src` or `server/src/dns`. */
const layeredOf = (path: string): string =>
  path.startsWith('contract/src/') ? 'contract/src' : `server/src/${domainOf(path)}`

/** Returns the position of a file's folder in the layers of its module; undefined if it has none, and -1 if they lack the folder. */
function layerOf(path: string): number | undefined {
  const module = layeredOf(path)
  const folders = layers[module === 'contract/src' ? 'contract' : domainOf(path)]
  if (!folders) return undefined
  const folder = dirname(path).slice(module.length + 1)
  const position = folders.findIndex((entry) => entry.includes(folder))
  return folder === '' && position === -1 ? folders.length : position
}

/** Returns why the import is against the layers of its module; undefined if it is not. */
function layerViolation({ from, to }: Import): string | undefined {
  if (layeredOf(from) !== layeredOf(to) || dirname(from) === dirname(to)) return undefined
  const [source, target] = [layerOf(from), layerOf(to)]
  if (source === undefined || target === undefined || target < source) return undefined
  return 'a folder imports only from the layers before its own'
}

const sourceFolders = ['contract/src', 'server/src']

function sourceFiles(): string[] {
  return sourceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !isTestSupport(file))
      .map((file) => join(folder, file)),
  )
}

/** Suites and samples that only tests import. */
const isTestSupport = (file: string): boolean =>
  /(^|\/)(testing[^/]*|samples)\.ts$|\.conformance\.ts$|\/generated\//.test(file)

describe('the import table', () => {
  it('holds for every import of every source file', () => {
    const violations = sourceFiles()
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
      .map((one) => [one, violationOf(one)] as const)
      .filter(([, violation]) => violation !== undefined)
    assert.deepEqual(
      violations.map(([{ from, to }, violation]) => `${from} -> ${to}: ${violation}`),
      [],
    )
  })

  it('has one place that leads a loop, and a command that leads for once', () => {
    const leading = sourceFiles()
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
      .filter(({ to }) => to === 'server/src/db/leadership.ts')
      .map(({ from }) => from)
    assert.deepEqual(leading, ['server/src/commands/flows.ts', 'server/src/db/led-loop.ts'])
  })

  it('has the folders of a module in layers', () => {
    const files = sourceFiles()
    const violations = files
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
      .filter((one) => layerViolation(one) !== undefined)
      .map(({ from, to }) => `${from} -> ${to}`)
    const unlisted = new Set(files.filter((file) => layerOf(file) === -1).map(dirname))
    assert.deepEqual([violations, [...unlisted]], [[], []])
  })

  it('finds a planted import of a later layer, of the same one, and of the module itself', () => {
    const from = 'server/src/byoip/status/announcement.ts'
    const lines = [
      "import type { Region } from '../announcement/region.ts'",
      "import { x } from '../byoip.ts'",
      "import { x } from './status-message.ts'",
    ]
    const ofSameLayer = importsOf(
      'server/src/byoip/validation/validate.ts',
      "import { y } from '../visibility/visibility.ts'",
    )
    const imports = [...lines.flatMap((line) => importsOf(from, line)), ...ofSameLayer]
    assert.deepEqual(
      imports.map((one) => layerViolation(one) !== undefined),
      [true, true, false, true],
    )
  })

  it('finds a planted import of a later layer of the contract, of the same one, and of a folder by the root', () => {
    const imports = [
      ...importsOf('contract/src/session/session.ts', "import type { Zone } from '../dns/zone.ts'"),
      ...importsOf('contract/src/dns/zone.ts', "import { Prefix } from '../byoip/announcement.ts'"),
      ...importsOf('contract/src/scalar.ts', "import { Zone } from './dns/zone.ts'"),
      ...importsOf('contract/src/dns/zone.ts', "import { Timestamp } from '../scalar.ts'"),
      ...importsOf('contract/src/document/document.ts', "import { zone } from '../dns/zone.ts'"),
    ]
    assert.deepEqual(
      imports.map((one) => layerViolation(one) !== undefined),
      [true, true, true, false, false],
    )
  })

  it('covers every module of the server', () => {
    const modules = new Set(sourceFiles().map(moduleOf))
    assert.deepEqual(
      [...modules].filter((module) => !(module in allowed)),
      [],
    )
  })

  const planted: [string, string, string][] = [
    ['server/src/net/prefix.ts', "import { db } from '../db/postgres.ts'", 'net may not import db'],
    ['server/src/net/prefix.ts', "import { readFile } from 'node:fs'", 'net may not use the package node:fs'],
    [
      'server/src/byoip/announcement.ts',
      "import { handle } from '../http/mount.ts'",
      'byoip may not import http',
    ],
    ['server/src/byoip/plan.ts', "import { x } from '../analysis/match.ts'", 'byoip may not import analysis'],
    [
      'server/src/events/event.routes.ts',
      "import { x } from './event.store.ts'",
      'a route goes through its use-case, not to the store',
    ],
    [
      'server/src/byoip/x.ts',
      "import { x } from '../team/team.store.ts'",
      'another domain is entered through its aggregate, not its store',
    ],
    [
      'server/src/db/postgres.ts',
      "import { serve } from '../process/serve.ts'",
      'process must not be imported',
    ],
    [
      'server/src/dns/publish/publish-zone.ts',
      "import { parts } from '../nameserver.parts.ts'",
      'parts must not be imported',
    ],
    [
      'server/src/drivers/gobgp/speaker.ts',
      "import { plan } from '../../byoip/plan.ts'",
      'drivers may not import byoip',
    ],
    ['contract/src/route.ts', "import { x } from 'fastify'", 'contract may not use the package fastify'],
  ]
  for (const [from, line, violation] of planted) {
    it(`finds the planted violation:`, () => {
      assert.deepEqual(importsOf(from, line).map(violationOf), [violation])
    })
  }

  it('allows a driver to import the types of a port', () => {
    const line = "import type { Speaker } from '../../byoip/speaker.ts'"
    assert.deepEqual(importsOf('server/src/drivers/gobgp/speaker.ts', line).map(violationOf), [undefined])
  })
})

const workspaceFolders = ['contract', 'server', 'demo', 'portal', 'lab', 'bench', 'dist', 'scripts']

/** Returns every source and test file of the workspaces, by its path from the root. */
function workspaceFiles(): string[] {
  return workspaceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (file) => /\.(ts|tsx|mts|mjs)$/.test(file) && !/(^|\/)(node_modules|generated|dist)\//.test(file),
      )
      .map((file) => join(folder, file)),
  )
}

type Graph = ReadonlyMap<string, readonly string[]>

/** Returns the files that import each other, directly or through others: one sorted list for each cycle (Tarjan). */
function cyclesIn(graph: Graph): string[][] {
  const indexes = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    indexes.set(file, indexes.size)
    lowest.set(file, indexes.get(file)!)
    stack.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!indexes.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!))
    }
    if (lowest.get(file) !== indexes.get(file)) return
    const cycle = stack.splice(stack.indexOf(file))
    if (cycle.length > 1 || graph.get(file)?.includes(file)) cycles.push(cycle.sort())
  }
  for (const file of graph.keys()) if (!indexes.has(file)) visit(file)
  return cycles
}

/** Returns the graph of the folders of these files. */
function foldersOf(imports: readonly Import[]): Graph {
  const graph = new Map<string, Set<string>>()
  const folderOf = (path: string): string => {
    const folder = dirname(path.replace(/^contract\/(?!src\/)/, 'contract/src/'))
    if (!graph.has(folder)) graph.set(folder, new Set())
    return folder
  }
  for (const { from, to } of imports) {
    // Parts connect modules in both directions.
    if (to.startsWith('package:') || isParts(from) || isParts(to)) continue
    const [source, target] = [folderOf(from), folderOf(to)]
    if (source !== target) graph.get(source)!.add(target)
  }
  return new Map([...graph].map(([folder, targets]) => [folder, [...targets]]))
}

describe('import cycles', () => {
  it('do not exist in any workspace, types included', () => {
    const graph = new Map(
      workspaceFiles().map((file) => [
        file,
        importsOf(file, readFileSync(join(root, file), 'utf8')).map(({ to }) => to),
      ]),
    )
    const found = cyclesIn(graph)
    assert.deepEqual(found, [])
  })

  it('do not exist between folders of the server and the contract, types included', () => {
    const imports = sourceFiles().flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
    assert.deepEqual(cyclesIn(foldersOf(imports)), [])
  })

  it('are found between folders: a planted pair of a value and a type', () => {
    const imports = [
      ...importsOf('server/src/dns/sign/sign-zone.ts', "import { zone } from '../zone/zone.ts'"),
      ...importsOf('server/src/dns/zone/zone.ts', "import type { Key } from '../sign/signing-key.ts'"),
      ...importsOf('server/src/dns/zone/zone.ts', "import { row } from './zone.store.ts'"),
    ]
    assert.deepEqual(cyclesIn(foldersOf(imports)), [['server/src/dns/sign', 'server/src/dns/zone']])
  })

  it('are found: direct ones, longer ones, and a file that imports itself', () => {
    const graph: Graph = new Map([
      ['a', ['b', 'e']],
      ['b', ['c']],
      ['c', ['a', 'd']],
      ['d', ['d']],
      ['e', []],
      ['f', ['g']],
      ['g', ['f']],
    ])
    assert.deepEqual(cyclesIn(graph), [['d'], ['a', 'b', 'c'], ['f', 'g']])
  })
})

/**
 * Names that several files may export, about half of them a type of the contract and its counterpart in a domain, or the routes of
 * both. Lower this number when the count falls; never raise it: a new export gets a noun before its name.
 */
const sharedNamesMax = 54

const isGenerated = (file: string): boolean => /\/generated\/|^server\/src\/db\/schema\.ts$/.test(file)

/** The names that a file declares and exports. A re-export has the same meaning, and each `parts.ts` has the same two. */
function exportedNames(file: string, text: string): string[] {
  const declaration =
    /^export (?:declare )?(?:async |abstract )?(?:const|let|function\*?|class|type|interface) (\w+)/gm
  const names = new Set([...text.matchAll(declaration)].map(([, name]) => name!))
  return [...names].filter((name) => !(isParts(file) && ['parts', 'routes'].includes(name)))
}

/** Returns the exported names of more than one file, each with its files. */
function sharedNames(files: readonly (readonly [file: string, text: string])[]): [string, string[]][] {
  const filesOf = new Map<string, string[]>()
  for (const [file, text] of files) {
    for (const name of exportedNames(file, text)) filesOf.set(name, [...(filesOf.get(name) ?? []), file])
  }
  return [...filesOf].filter(([, names]) => names.length > 1)
}

describe('exported names', () => {
  const files = sourceFolders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !isGenerated(file))

  it('have one meaning in the server and the contract', () => {
    const shared = sharedNames(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
    const lines = shared.map(([name, exporting]) => `${name}: ${exporting.join(', ')}`)
    assert.ok(
      lines.length <= sharedNamesMax,
      `${lines.length} names, at most ${sharedNamesMax}:\n${lines.join('\n')}`,
    )
  })

  it('are found if two files declare them, but not if one exports the other again', () => {
    const shared = sharedNames([
      ['server/src/dns/a.ts', 'export type Claim = string\nexport const one = 1\ntype Own = string'],
      ['server/src/webhook/b.ts', 'export type Claim = {}\ntype Own = number'],
      ['server/src/webhook/c.ts', "export { one } from '../dns/a.ts'"],
      ['server/src/dns/parts.ts', 'export const parts = 1'],
      ['server/src/webhook/parts.ts', 'export const parts = 2'],
    ])
    assert.deepEqual(shared, [['Claim', ['server/src/dns/a.ts', 'server/src/webhook/b.ts']]])
  })
})
