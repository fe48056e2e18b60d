// Builds the portal into static files with hashes in their names, served by the server itself; scripts/dev.mjs serves
// its sources.
import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** What sign-in needs beside the base. */
const formParts =
  /@mantine\/form\/|@mantine\/core\/esm\/components\/(Input|InputBase|TextInput|PasswordInput|Button|ActionIcon|UnstyledButton|Loader|Stack|Card|Paper|Center|Anchor)\/|portal\/src\/(session\/sign-in|ui\/(form|form-text-widgets|problem))\.tsx/

/** What the frame around the pages needs. */
const frameParts =
  /@floating-ui|@mantine\/core\/esm\/(utils\/Floating|components\/(AppShell|Drawer|NavLink|Collapse|Menu|Popover|Tooltip|SegmentedControl|FloatingIndicator|ScrollArea|SimpleGrid|Skeleton|Transition|FocusTrap|Portal)\/)|portal\/src\/shell\/shell\.tsx/

/** Libraries that only some pages need, a file each. */
const libraries: readonly (readonly [name: string, test: RegExp])[] = [
  ['charts', /node_modules\/(uplot|d3-|internmap)/],
  ['dates', /node_modules\/(@mantine\/dates|dayjs)\//],
  ['diff', /node_modules\/diff\//],
  ['palette', /node_modules\/@mantine\/spotlight\//],
  ['tables', /node_modules\/@tanstack\/(react-table|table-core|react-virtual|virtual-core)\//],
  ['libraries', /node_modules/],
]

/** Code that pages share. The notification of an attack is on every page: in the file of its folder it would load the charts too. */
const sharedParts = /portal\/src\/((ui|api)\/|events\/attack-notification\.tsx)|contract\/src\//

/** Pages of one folder are often opened after each other. */
const folders =
  /portal\/src\/(announcements|asns|prefixes|charts|events|overview|profile|session|shell|staff|team)\//

/** Parts of a folder that its page loads only when they are used. */
const later = /portal\/src\/overview\/(edit-overview|panel-settings|panel-tables|port-panel|use-drag)\./

const libraryOf = (id: string): string | null => libraries.find(([, test]) => test.test(id))?.[0] ?? null

const folderOf = (id: string): string | null => (later.test(id) ? null : (folders.exec(id)?.[1] ?? null))

const styles = `${import.meta.dirname}/src/theme/library.css`

/** Fails the build if a component of the library is in use and its styles are not. */
const libraryStyles: Plugin = {
  name: 'library-styles',
  generateBundle(_options, bundle) {
    const listed = readFileSync(styles, 'utf8')
    const missing = Object.values(bundle)
      .flatMap((file) => (file.type === 'chunk' ? Object.entries(file.modules) : []))
      .filter(([, { renderedLength }]) => renderedLength > 0)
      .flatMap(([id]) => /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1] ?? [])
      .filter((name) => !listed.includes(`/${name}.css'`))
    if (missing.length > 0) this.error(`${styles} lacks the styles of ${missing.join(', ')}`)
  },
}

/** The browser requests the frame, the form and the font of most texts at once, not when the page asks for them. */
const earlyFiles: Plugin = {
  name: 'early-files',
  transformIndexHtml: (_html, { bundle = {} }) =>
    Object.values(bundle)
      .filter(({ fileName }) => /\/(form|frame|inter-latin-wght-normal)-[^/]*\.(js|woff2)$/.test(fileName))
      .map(({ type, fileName }) => ({
        tag: 'link',
        injectTo: 'head' as const,
        attrs: {
          ...(type === 'chunk' ? { rel: 'modulepreload' } : { rel: 'preload', as: 'font' }),
          // Guests need it after they have signed in.
          ...(fileName.includes('/frame-') ? { fetchpriority: 'low' } : {}),
          crossorigin: true,
          href: `/${fileName}`,
        },
      })),
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), libraryStyles, earlyFiles],
  resolve: { alias: { typebox: `${import.meta.dirname}/src/api/shapes.ts` } },
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    target: 'es2023',
    // A file of its own each, so that a strict policy needs no exception for data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Few files: a page of thirty files waits for thirty answers. One each for what every page needs, for sign-in, for the
        // frame, for what pages share, for the pages of a folder, and for a large library that only some pages need.
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 6 },
            { name: 'form', test: formParts, priority: 5 },
            { name: 'frame', test: frameParts, priority: 4 },
            { name: libraryOf, debugName: 'library', priority: 3 },
            { name: 'shared', test: sharedParts, priority: 2 },
            { name: folderOf, debugName: 'folder', priority: 1 },
          ],
        },
      },
    },
  },
})
