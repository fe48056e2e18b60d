// The announcement in the API: requests to copy, with the address of this server.
import { Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { TextLink } from '../ui/link.tsx'
import { useGrant } from '../api/use-grant.ts'
import { Section } from '../ui/section.tsx'
import { CopyTextButton, ObjectText } from '../ui/task-row.tsx'
import { words } from './words.ts'

const { api: texts } = words

export function ApiTab({ announcement: { id, enabled } }: { announcement: Announcement }) {
  const canManage = useGrant('tokens.manage')
  const { read, change } = curlOf(location.origin, id, !enabled)
  return (
    <Section
      title={texts.title}
      actions={
        canManage && (
          <TextLink to="/team/tokens" size="sm">
            {texts.tokens}
          </TextLink>
        )
      }
    >
      <Text size="sm" c="dimmed" mb="sm">
        {texts.intro}
      </Text>
      <Request title={texts.read} text={read} />
      <Request title={texts.change} text={change} note={texts.changeNote} />
    </Section>
  )
}

const Request = ({ title, text, note }: { title: string; text: string; note?: string }) => (
  <div style={{ marginBottom: 16 }}>
    <Text size="sm" fw={500} mb={4} component="h3">
      {title}
    </Text>
    <ObjectText text={text} />
    <div style={{ display: 'flex', gap: 12, alignItems: 'center', marginTop: 8 }}>
      <CopyTextButton text={text} />
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  </div>
)

/** Returns the commands that read and change an announcement; the change is a dry run. */
function curlOf(origin: string, id: number, enable: boolean) {
  const url = `${origin}/v3/ipam/announcements/${id}`
  return {
    read: `curl '${url}?include=validations,region_states,details' \\\n  -H "Authorization: Token $PHAROS_TOKEN"`,
    change: [
      `curl -X PATCH '${url}?dry_run=true'`,
      `-H "Authorization: Token $PHAROS_TOKEN"`,
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify({ enabled: enable })}'`,
    ].join(' \\\n  '),
  }
}
