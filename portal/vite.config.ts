// How the portal is built: static files with hashes in their names, served by the server itself.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const formParts =
  /@mantine\/core\/esm\/components\/(Input|InputBase|TextInput|PasswordInput|Button|ActionIcon|UnstyledButton|Loader|Stack|Card|Paper|Center|Anchor)\//

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
        // What every page needs, and what forms need, in a file each; what else of the libraries the same pages need, in
        // few: a page of twenty files waits for twenty answers.
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 3 },
            { name: 'form', test: formParts, priority: 2 },
            {
              name: 'parts',
              test: /node_modules|portal\/src\/(ui|api)|contract\/src/,
              entriesAware: true,
              entriesAwareMergeThreshold: 24_000,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/v3': 'http://127.0.0.1:8080', '/docs': 'http://127.0.0.1:8080' } },
})
