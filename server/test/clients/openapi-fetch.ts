// The same API through the types of openapi-typescript: a typed client without generated code. Dry runs have a media type of
// their own, so that they do not appear in the types of ordinary answers.
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
  const client = createClient<paths, 'application/json'>({
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

    /** The type of the answer is that of the record alone. */
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
      return (error as components['schemas']['Problem'] | undefined)?.code
    },
  }
}
