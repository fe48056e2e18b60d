// The server of a tree in one file, which Node.js loads in a quarter of the time of its thousands of modules (decision 179). The sources
// stay beside it: threads, child processes and the demo run them, and files are found from their places.
import { join, relative } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'

/** Packages of many small ES modules. All others are loaded from node_modules. */
const bundled = new Set(['@bufbuild/protobuf', 'jose', 'kysely', 'typebox', 'yaml'])

/** Its path in the tree; the launchers have it too. */
export const bundleFile = 'server/bundle/main.mjs'

export async function bundleServer(tree: string): Promise<void> {
  await using bundle = await rolldown({
    input: { main: join(tree, 'server/src/main.ts') },
    cwd: tree,
    platform: 'node',
    plugins: [externalPackages, sourcePlaces(tree)],
    onLog: (level, log, report) => {
      // A place is a longer text in the same line; there is no source map.
      if (log.code !== 'SOURCEMAP_BROKEN') report(level === 'warn' ? 'error' : level, log)
    },
  })
  await bundle.write({
    dir: join(tree, 'server/bundle'),
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
  })
}

const externalPackages: Plugin = {
  name: 'external-packages',
  async resolveId(id, importer, options) {
    if (id.startsWith('.') || id.startsWith('/')) return undefined
    const found = await this.resolve(id, importer, { ...options, skipSelf: true })
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(found?.id ?? '')?.[1]
    if (found && (name === undefined || bundled.has(name))) return found
    return { id, external: true }
  },
}

/** Replaces `import.meta.url` of each source by the URL of that source. */
const sourcePlaces = (tree: string): Plugin => ({
  name: 'source-places',
  transform(code, id) {
    const file = relative(tree, id)
    if (file.startsWith('node_modules/') || !code.includes('import.meta.')) return undefined
    const [other] = /\bimport\.meta\.(?:dirname|filename|main)\b/.exec(code) ?? []
    if (other !== undefined) this.error(`${file}: ${other} would be that of the bundle`)
    const place = `new URL(${JSON.stringify(`../../${file}`)}, import.meta.url).href`
    return { code: code.replaceAll('import.meta.url', place), map: null }
  },
})
