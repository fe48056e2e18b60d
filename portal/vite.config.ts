// Builds the portal into static files with hashes in their names, served by the server itself; scripts/dev.mjs serves
// its sources.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const formParts =
  /@mantine\/form\/|@mantine\/core\/esm\/components\/(Input|InputBase|TextInput|PasswordInput|Button|ActionIcon|UnstyledButton|Loader|Stack|Card|Paper|Center|Anchor)\//

const frameParts =
  /@floating-ui|@mantine\/core\/esm\/(utils\/Floating|components\/(AppShell|Burger|NavLink|Collapse|Menu|Popover|Tooltip|SegmentedControl|FloatingIndicator|ScrollArea|Badge|SimpleGrid|Skeleton|Transition|FocusTrap|Portal)\/)/

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
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
        // A file each for what every page needs, what forms need, and what the frame around the pages needs: a page of
        // thirty files waits for thirty answers. What else pages share is fetched by those that use it, and no others.
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 4 },
            { name: 'form', test: formParts, priority: 3 },
            { name: 'frame', test: frameParts, priority: 2 },
            {
              name: 'parts',
              test: /node_modules|portal\/src\/(ui|api)|contract\/src/,
              entriesAware: true,
              priority: 1,
            },
          ],
        },
      },
    },
  },
})
