// Pages besides the API and the portal: the documentation, the OpenAPI document, the public keys. No page loads
// anything from a third party, and each has its own strict content security policy.
import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { openapi } from '@pharos/contract/openapi'
import { problems } from '@pharos/contract/problem'
import { routes } from '@pharos/contract/routes'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { version } from '../runtime/version.ts'

const require = createRequire(import.meta.url)

const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
// Swagger UI writes style attributes, and draws its icons from data: URLs.
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const portalFile = (name: string) => new URL(`../../../portal/public/${name}`, import.meta.url)
const swaggerFile = (name: string) => require.resolve(`swagger-ui-dist/${name}`)

/** Adds the pages. `jwks` is called for every request, since keys rotate. */
export function addDocumentation(server: FastifyInstance, jwks: () => object): void {
  const document = JSON.stringify(openapi(routes, version))
  const file = (url: string, path: string | URL, type: string, policy = pagePolicy) =>
    server.get(url, async (_request, reply) => asset(reply, await readFile(path), type, policy))

  file('/assets/portal.css', portalFile('portal.css'), 'text/css')
  // Browsers request it without being told, also where the portal is not built.
  server.get('/favicon.ico', async (_request, reply) =>
    asset(reply, await readFile(portalFile('favicon.ico')), 'image/x-icon', pagePolicy),
  )
  file('/docs/assets/swagger-ui.css', swaggerFile('swagger-ui.css'), 'text/css')
  file('/docs/assets/swagger-ui.js', swaggerFile('swagger-ui-bundle.js'), 'text/javascript')
  server.get('/docs/assets/start.js', async (_request, reply) =>
    asset(reply, startScript, 'text/javascript', pagePolicy),
  )
  server.get('/docs', async (_request, reply) => asset(reply, docsPage, 'text/html', docsPolicy))
  server.get('/docs/problems', async (_request, reply) =>
    asset(reply, problemsPage(), 'text/html', pagePolicy),
  )
  server.get('/v3/openapi.json', async (_request, reply) =>
    asset(reply, document, 'application/json', pagePolicy),
  )
  server.get('/.well-known/jwks.json', async (_request, reply) =>
    asset(reply, JSON.stringify(jwks()), 'application/jwk-set+json', pagePolicy),
  )
}

function asset(reply: FastifyReply, content: string | Buffer, type: string, policy: string): FastifyReply {
  return reply
    .header('content-type', type.startsWith('image/') ? type : `${type}; charset=utf-8`)
    .header('content-security-policy', policy)
    .header('cache-control', 'no-cache')
    .serializer((body: unknown) => body as string)
    .send(content)
}

const docsPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pharos API</title><link rel="stylesheet" href="/docs/assets/swagger-ui.css"></head>
<body><div id="docs"></div>
<script src="/docs/assets/swagger-ui.js"></script><script src="/docs/assets/start.js"></script></body>
</html>
`

const startScript = `SwaggerUIBundle({ url: '/v3/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'list', validatorUrl: null })
`

/** One section per error code: the target of the \`type\` of a problem. */
function problemsPage(): string {
  const sections = Object.entries(problems).map(
    ([code, { status, title, help }]) =>
      `<h2 id="${code}"><code>${code}</code> (${status})</h2><p>${title}. ${withCode(help)}</p>`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pharos: error codes</title><link rel="stylesheet" href="/assets/portal.css"></head>
<body class="document"><main><h1>Error codes</h1>
<p>Every error is an RFC 9457 problem document; its <code>code</code> is one of these.</p>
${sections.join('\n')}
</main></body>
</html>
`
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const withCode = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
