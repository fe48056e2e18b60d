// Each check with its state, its reason, and the literal text of what to create.
import { Card, Group, Stack, Text } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { CopyBlock } from '../ui/copy.tsx'
import { ValidationBadge } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'

const checkNames: Readonly<Record<string, string>> = {
  irr: 'IRR',
  rpki: 'RPKI',
  loa: 'Letter of authorization',
  asn: 'Origin AS',
  size: 'Size',
  overlap: 'Overlap',
}

export function Validations({ announcement: { validations = [] } }: { announcement: Announcement }) {
  return (
    <Stack gap="sm">
      {validations.map(({ name, state, note, fix, checked }) => (
        <Card key={name} component="section" aria-label={checkNames[name] ?? name}>
          <Group justify="space-between">
            <Group gap="xs">
              <Text fw={600} size="sm">
                {checkNames[name]}
              </Text>
              <ValidationBadge state={state} />
            </Group>
            <Text size="xs" c="dimmed">
              checked <Time at={checked} none="by what is stored here" />
            </Text>
          </Group>
          <Text size="sm" mt={4}>
            {note}
          </Text>
          {fix !== null && state !== 'valid' && (
            <Stack gap={4} mt="xs">
              <Text size="xs" c="dimmed">
                To do, literally:
              </Text>
              <CopyBlock text={fix} label="Copy what to create" />
            </Stack>
          )}
        </Card>
      ))}
    </Stack>
  )
}
