// How the portal is built: static files with hashes in their names, served by the server itself.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

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
  },
  server: { proxy: { '/v3': 'http://127.0.0.1:8080', '/docs': 'http://127.0.0.1:8080' } },
})
