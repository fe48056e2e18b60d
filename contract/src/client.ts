// The typed client, derived from the route values, for the portal, tests and scripts. It has no
// retries, state or credential storage.
import type { Problem } from './problem.ts'
import type { BodyOf, FieldsOf, ParamsOf, QueryOf, ResponseOf, Route, Upload } from './route.ts'

export type Credential = { readonly bearer: string } | { readonly token: string } | undefined

export type ClientOptions = {
  /** Scheme and authority, such as `https://portal.example.net`; empty for the page's own origin. */
  readonly baseUrl: string
  /** Called for every request, so that a refreshed access token is used. */
  readonly credential?: () => Credential
  readonly fetch?: typeof fetch
}

type Present<K extends string, V> = V extends undefined ? unknown : { [key in K]: V }

/** The file and the text fields of an upload. */
export type Form<R extends Route> = {
  readonly file: Blob
  /** Default: the name of a File. */
  readonly filename?: string
  readonly fields?: Partial<FieldsOf<R>>
}

export type CallInput<R extends Route> = Present<'body', BodyOf<R>> &
  (R['upload'] extends Upload ? { form: Form<R> } : unknown) & {
    params?: ParamsOf<R>
    query?: Partial<QueryOf<R>>
    headers?: Record<string, string>
    signal?: AbortSignal
  }

/** An error answer, with the problem document of the server. */
export class ProblemError extends Error {
  readonly problem: Problem
  /** Delay requested by the server (`Retry-After`), if any. */
  readonly retryAfterSeconds: number | undefined
  constructor(problem: Problem, retryAfterSeconds?: number) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export type Answer<R extends Route> = {
  readonly status: number
  readonly headers: Headers
  /** The file of a download. */
  readonly body: R['download'] extends readonly string[] ? Blob : ResponseOf<R>
}

/** `const call = createClient({ baseUrl })`, then `await call(listAnnouncementsRoute, { query: { limit: 10 } })`. */
export function createClient(options: ClientOptions) {
  const send = options.fetch ?? fetch
  return async function call<R extends Route>(route: R, input: CallInput<R>): Promise<Answer<R>> {
    const { body, form, params, query, headers, signal } = input as CallInput<Route> & Content
    const response = await send(options.baseUrl + urlOf(route, params ?? {}, query ?? {}), {
      method: route.method,
      headers: { ...authorization(options.credential?.()), ...contentType(body), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form && route.upload ? { body: formDataOf(route.upload, form) } : {}),
      ...(signal ? { signal } : {}),
    })
    const value = await (route.download && response.status === 200 ? response.blob() : jsonOf(response))
    if (!response.ok && response.status !== 304)
      throw new ProblemError(value as Problem, retryAfterOf(response.headers))
    return { status: response.status, headers: response.headers, body: value as Answer<R>['body'] }
  }
}

type Content = { readonly body?: unknown; readonly form?: Form<Route> }

/** Parses `Retry-After` in seconds (RFC 9110 section 10.2.3). */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** Fields before the file, lists repeated; `fetch` adds the boundary to the media type. */
function formDataOf({ file: { name } }: Upload, { file, filename, fields }: Form<Route>): FormData {
  const data = new FormData()
  for (const [field, text] of pairsOf(fields ?? {})) data.append(field, text)
  if (filename === undefined) data.append(name, file)
  else data.append(name, file, filename)
  return data
}

/** Pairs of name and text; lists repeated, absent and null values omitted. */
function pairsOf(values: Record<string, unknown>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((one) => (one === undefined || one === null ? [] : [[name, String(one)] as [string, string]])),
  )
}

/** Returns path and query of a call: parameters filled in, lists repeated, everything escaped. */
export function urlOf(route: Route, params: Record<string, unknown>, query: Record<string, unknown>): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = pairsOf(query)
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

/** Returns the header of the credential, if there is one. */
export function authorization(credential: Credential): Record<string, string> {
  if (!credential) return {}
  return {
    authorization: 'bearer' in credential ? `Bearer ${credential.bearer}` : `Token ${credential.token}`,
  }
}

const contentType = (body: unknown): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json' }
