// Explains fields of an answer that a caller sends back to an operation that does not take them, as programs do that keep the
// whole record.
import type { Route } from '@pharos/contract/route'
import { routes } from '@pharos/contract/document/routes'
import type { TSchema } from 'typebox'

type ObjectSchema = { readonly properties?: Readonly<Record<string, TSchema>> }

/** Returns the predicate for an unknown field of the route's body that is a field of its answer; otherwise undefined. */
export function explainUnknownFields(route: Route): (name: string) => string | undefined {
  const shown = propertiesOf(route.response)
  const update = routes.find(({ method, path }) => method === 'PATCH' && path === route.creates?.path)
  const changeable = propertiesOf(update?.body ?? null)
  return (name) => {
    if (!Object.hasOwn(shown, name)) return undefined
    if (!route.creates) return 'cannot be changed by this operation: do not send it'
    if (!Object.hasOwn(changeable, name)) return 'is set by the server: do not send it'
    return `is set by PATCH ${update!.path}, after the record was created: do not send it here`
  }
}

/** Returns the fields of a record, or of the records of a page. */
function propertiesOf(schema: TSchema | null): Readonly<Record<string, unknown>> {
  const { properties = {} } = (schema ?? {}) as ObjectSchema
  const items = (properties['results'] as { readonly items?: ObjectSchema } | undefined)?.items
  return items?.properties ?? properties
}
