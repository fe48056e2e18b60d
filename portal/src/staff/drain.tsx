// Drains a router before maintenance, and undrains it afterwards.
import { Button, Text } from '@mantine/core'
import { drainRouterRoute, listAdminRegionsRoute, undrainRouterRoute } from '@pharos/contract/operator/region'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { words } from './words.ts'

const { regions: t } = words

type DrainProps = {
  readonly region: string
  readonly name: string
  readonly isDrained: boolean
  /** No other router of the region carries routes. */
  readonly isLast: boolean
}

export function Drain({ region, name, isDrained, isLast }: DrainProps) {
  // The action of an open dialog stays, also when a colleague drains the router meanwhile.
  const [wasDrained, setWasDrained] = useState(isDrained)
  const verbOf = (drained: boolean) => (drained ? t.undrain : t.drain)
  return (
    <Dialog
      title={t.drainOf(verbOf(wasDrained), name, region)}
      action={verbOf(wasDrained)}
      danger={!wasDrained}
      trigger={(open) => (
        <Button
          size="xs"
          variant="default"
          aria-label={t.drainOf(verbOf(isDrained), name, region)}
          onClick={() => {
            setWasDrained(isDrained)
            open()
          }}
        >
          {verbOf(isDrained)}
        </Button>
      )}
      onSubmit={async () => {
        await call(wasDrained ? undrainRouterRoute : drainRouterRoute, { params: { slug: region, name } })
        await invalidate(listAdminRegionsRoute)
      }}
    >
      <Text size="sm">{wasDrained ? t.undrainText : isLast ? t.drainLast : t.drainText}</Text>
    </Dialog>
  )
}
