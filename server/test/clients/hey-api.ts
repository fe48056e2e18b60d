// A program that manages one announcement the way a Terraform provider does, with the client that @hey-api/openapi-ts generates.
import { createClient, createConfig } from './generated/hey-api/client/index.ts'
import {
  createAnnouncements,
  createWebhook,
  deleteAnnouncement,
  getAnnouncement,
  getSessionToken,
  listAnnouncements,
  updateAnnouncement,
} from './generated/hey-api/sdk.gen.ts'
import type {
  Announcement,
  AnnouncementDryRun,
  AnnouncementInclude,
  CreateWebhookBody,
  NewAnnouncement,
  Problem,
} from './generated/hey-api/types.gen.ts'

export type Options = { readonly baseUrl: string; readonly token: string; readonly fetch?: typeof fetch }

/** An error answer. */
export class ApiError extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

export function createProvider({ baseUrl, token, fetch: send = fetch }: Options) {
  const client = createClient(
    createConfig({
      baseUrl,
      fetch: send,
      auth: `Token ${token}`,
    }),
  )

  return {
    /** Returns the scopes of the token. */
    async configure(): Promise<string[]> {
      const { data, error } = await getSessionToken({ client })
      if (!data) throw new ApiError(error)
      return data.token.scopes
    },

    async create(body: NewAnnouncement): Promise<{ created: Announcement; location: string | null }> {
      const { data, error, response } = await createAnnouncements({ client, body })
      if (!response || !data || !('results' in data)) throw new ApiError(error as Problem)
      return { created: data.results[0]!, location: response.headers.get('location') }
    },

    /** Repeats the request with the same key until there is an answer. */
    async createHook(body: CreateWebhookBody): Promise<{ id: number; attempts: number }> {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      for (let attempts = 1; ; attempts += 1) {
        const { data, error, response } = await createWebhook({ client, body, headers })
        if (data) return { id: data.id, attempts }
        if (response || attempts === 5) throw new ApiError(error as Problem)
      }
    },

    /** Returns the extra parts of an announcement that have arrived; the names are a closed list. */
    async partsOf(id: number): Promise<boolean[]> {
      const include: AnnouncementInclude[] = ['details', 'validations']
      const { data } = await getAnnouncement({ client, path: { announcement_id: id }, query: { include } })
      return [data?.details !== undefined, data?.validations !== undefined]
    },

    /** Returns undefined if the announcement does not exist. */
    async read(id: number): Promise<{ announcement: Announcement; etag: string } | undefined> {
      const { data, error, response } = await getAnnouncement({ client, path: { announcement_id: id } })
      if (response?.status === 404) return undefined
      if (!data || !response) throw new ApiError(error as Problem)
      return { announcement: data, etag: response.headers.get('etag')! }
    },

    async update(
      id: number,
      body: { enabled: boolean; region?: string },
      etag: string,
    ): Promise<Announcement> {
      const { data, error } = await updateAnnouncement({
        client,
        path: { announcement_id: id },
        body,
        headers: { 'If-Match': etag },
      })
      if (!data) throw new ApiError(error)
      return data
    },

    /** Returns the result of a dry run. The generated function has only the type of the ordinary answer. */
    async plan(id: number, body: { enabled: boolean }): Promise<AnnouncementDryRun> {
      const { data, error } = await updateAnnouncement({
        client,
        path: { announcement_id: id },
        query: { dry_run: true },
        body,
      })
      if (!data) throw new ApiError(error)
      return data as unknown as AnnouncementDryRun
    },

    async delete(id: number): Promise<void> {
      const { error, response } = await deleteAnnouncement({ client, path: { announcement_id: id } })
      if (error && response?.status !== 404) throw new ApiError(error)
    },

    /** Reads all pages; imports find an announcement by its prefix. */
    async list(filter: { cidr?: string[] }, limit: number): Promise<Announcement[]> {
      const found: Announcement[] = []
      for (let offset = 0; ; offset += limit) {
        const query = { ...filter, ordering: ['id' as const], limit, offset }
        const { data, error, response } = await listAnnouncements({ client, query })
        if (!data || !response) throw new ApiError(error as Problem)
        found.push(...data.results)
        if (!response.headers.get('link')?.includes('rel="next"')) return found
      }
    },
  }
}
