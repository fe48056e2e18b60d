// Drains a router before maintenance, and undrains it afterwards.
import { Button, Text } from '@mantine/core'
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/admin-region'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { words } from './words.ts'

const { regions: t } = words

export function Drain({ region, name, isDrained }: { region: string; name: string; isDrained: boolean }) {
  const verb = isDrained ? t.undrain : t.drain
  const title = t.drainOf(verb, name, region)
  return (
    <Dialog
      title={title}
      action={verb}
      danger={!isDrained}
      trigger={(open) => (
        <Button size="xs" variant="default" onClick={open} aria-label={title}>
          {verb}
        </Button>
      )}
      onSubmit={async () => {
        await call(isDrained ? undrainRouterRoute : drainRouterRoute, { params: { slug: region, name } })
        await invalidate(listAdminRegionsRoute)
      }}
    >
      <Text size="sm">{isDrained ? t.undrainText : t.drainText}</Text>
    </Dialog>
  )
}
