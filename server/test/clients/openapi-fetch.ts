// The same API through the types of openapi-typescript: a typed client without generated code. The media types of answers and of
// errors are named: dry runs have another one, so that they do not appear in the types.
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi-typescript.d.ts'

type Announcement = components['schemas']['Announcement']

export function createAnnouncementClient({
  baseUrl,
  token,
}: {
  readonly baseUrl: string
  readonly token: string
}) {
  const client = createClient<paths, 'application/json' | 'application/problem+json'>({
    baseUrl,
    headers: { Authorization: `Token ${token}` },
  })

  return {
    async read(id: number): Promise<Announcement | undefined> {
      const { data } = await client.GET('/v3/ipam/announcements/{announcement_id}', {
        params: { path: { announcement_id: id } },
      })
      return data
    },

    /** The type of the answer is only the record. */
    async enable(id: number, region: string): Promise<Announcement | undefined> {
      const { data } = await client.PATCH('/v3/ipam/announcements/{announcement_id}', {
        params: { path: { announcement_id: id }, header: { 'Idempotency-Key': `enable-${id}-${region}` } },
        body: { enabled: true, region },
      })
      return data
    },

    /** Returns the code of the error: its type is the closed list. */
    async codeOfUnknownRegion(id: number): Promise<components['schemas']['ProblemCode'] | undefined> {
      const { error } = await client.PATCH('/v3/ipam/announcements/{announcement_id}', {
        params: { path: { announcement_id: id } },
        body: { enabled: true, region: 'nowhere' },
      })
      return error?.code
    },

    /** Creates an announcement: the 201 is a list. The type of the 200, a dry run, has no `results`. */
    async create(body: components['schemas']['NewAnnouncement']): Promise<Announcement | undefined> {
      const { data } = await client.POST('/v3/ipam/announcements', { body })
      return data && 'results' in data ? data.results[0] : undefined
    },

    /** An array is sent as a repeated parameter by this client, which the server takes as well as a comma list. */
    async partsOf(id: number): Promise<boolean[]> {
      const { data } = await client.GET('/v3/ipam/announcements/{announcement_id}', {
        params: { path: { announcement_id: id }, query: { include: ['details', 'validations'] } },
      })
      return [data?.details !== undefined, data?.validations !== undefined]
    },
  }
}
