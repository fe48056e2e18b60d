// Fastify and pg without anything else: one route, one prepared select of an event by its id, the default serializer. No
// authentication, no log, no security headers, no limits. Takes the database's address, sends its own, ends with its parent.
import Fastify from 'fastify'
import { Pool } from 'pg'

const pool = new Pool({ connectionString: process.argv[2] })
const server = Fastify()

server.get<{ Params: { id: string } }>('/events/:id', (request) => {
  const answer = pool.query<object>({
    name: 'event',
    text: `select id, flags, status, affected_network, source_timezone, start_at, end_at, source_key, source_event_id,
      source_resource_id, source_location_id, source_country, source_location, classification_key, description,
      affected_bps, affected_pps, parsed_data, has_attachment
    from events where id = $1`,
    values: [request.params.id],
  })
  return answer.then(({ rows }) => rows[0])
})

process.send?.(await server.listen({ host: '127.0.0.1', port: 0 }))
process.once('disconnect', () => process.exit())
