// The OpenAPI document of this API: the routes with their examples, and the messages of webhooks.
import { examples } from '../examples/index.ts'
import { documentedMessages } from '../examples/webhook-message.ts'
import { openapi } from './openapi.ts'
import { routes } from './routes.ts'

/** Returns the document. `version`: of the product. `server`: its URL; by default the host that served the document. */
export const apiDocument = (version: string, server?: string) =>
  openapi(routes, { version, examples, messages: documentedMessages, ...(server ? { server } : {}) })
