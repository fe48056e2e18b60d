// A zone that was deleted in the last seven days, and the way back.
import { Alert, Button, Group, Stack } from '@mantine/core'
import { restoreZoneRoute, type Zone } from '@pharos/contract/dns/zone'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useGrant } from '../api/use-grant.ts'
import { TextLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'
import { invalidateZones } from './zone-queries.ts'

const { deleted: texts } = words

export function DeletedZone({ zone: { id, name, details, state_messages: messages = [] } }: { zone: Zone }) {
  const canManage = useGrant('dns.manage')
  const restore = useMutation({
    mutationFn: () => call(restoreZoneRoute, { params: { zone: String(id) } }),
    onSuccess: () => {
      notifySuccess(texts.restored(name))
      return invalidateZones()
    },
  })
  return (
    <Page title={name} mono>
      <Alert color="warn" title={texts.title(name)}>
        <Stack gap="xs">
          <span>
            {texts.text} {texts.at}: <Time at={details?.deleted ?? null} />
          </span>
          {messages.map(({ tag, message }) => (
            <span key={tag}>{message}</span>
          ))}
          {canManage && (
            <Group>
              <Button variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
                {texts.restore}
              </Button>
            </Group>
          )}
        </Stack>
      </Alert>
      {restore.error && <Problem error={restore.error} />}
      <TextLink to="/zones" size="sm">
        {words.all}
      </TextLink>
    </Page>
  )
}
