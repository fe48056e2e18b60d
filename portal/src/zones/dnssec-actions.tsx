// The actions of DNSSEC: enable, roll the key over, disable, and keep it after all.
import { Button, Text } from '@mantine/core'
import { disableDnssecRoute, enableDnssecRoute, rollOverDnssecKeyRoute } from '@pharos/contract/dns/dnssec'
import { dnssecAlgorithms, type DnssecAlgorithm } from '@pharos/contract/dns/term'
import type { Zone } from '@pharos/contract/dns/zone'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { select, toggle } from '../ui/form-widgets.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { words } from './words.ts'
import { invalidateZones } from './zone-queries.ts'

const { dnssecPage: texts } = words
type Props = { readonly zone: Zone }
const paramsOf = ({ id }: Zone) => ({ zone: String(id) })

const enableFields = {
  algorithm: select({
    label: texts.algorithm,
    help: texts.algorithmHelp,
    required: true,
    data: dnssecAlgorithms.map((value) => ({ value, label: texts.algorithms[value]! })),
  }),
  nsec3: toggle({ label: texts.nsec3, help: texts.nsec3Help }),
  cds: toggle({ label: texts.cds, help: texts.cdsHelp }),
}

export const EnableDnssec = ({ zone }: Props) => (
  <Dialog
    title={texts.enable}
    action={texts.enable}
    intro={<Text size="sm">{texts.enableText}</Text>}
    declared={enableFields}
    initialValues={{ algorithm: 'ECDSAP256SHA256' as DnssecAlgorithm, nsec3: false, cds: true }}
    trigger={(open) => <Button onClick={open}>{texts.enable}</Button>}
    onSubmit={async (body) => {
      await call(enableDnssecRoute, { params: paramsOf(zone), body })
      notifySuccess(texts.enabled)
      await invalidateZones()
    }}
  />
)

export const RollOver = ({ zone }: Props) => (
  <Dialog
    title={texts.rollover}
    action={texts.rollover}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {texts.rollover}
      </Button>
    )}
    onSubmit={async () => {
      await call(rollOverDnssecKeyRoute, { params: paramsOf(zone) })
      notifySuccess(texts.rolledOver)
      await invalidateZones()
    }}
  >
    <Text size="sm">{texts.rolloverText}</Text>
  </Dialog>
)

const disableFields = {
  request_removal: toggle({ label: texts.askRemoval, help: texts.askRemovalHelp }),
  force: toggle({ label: texts.now, help: texts.nowHelp }),
}

export const DisableDnssec = ({ zone }: Props) => (
  <Dialog
    title={texts.disable}
    action={texts.disable}
    danger
    intro={<Text size="sm">{texts.disableText}</Text>}
    declared={disableFields}
    initialValues={{ request_removal: false, force: false }}
    trigger={(open) => (
      <Button variant="default" onClick={open}>
        {texts.disable}
      </Button>
    )}
    onSubmit={async (query) => {
      await call(disableDnssecRoute, { params: paramsOf(zone), query })
      notifySuccess(texts.disabling)
      await invalidateZones()
    }}
  />
)

export function CancelDisable({ zone }: Props) {
  const keep = useMutation({
    mutationFn: () => call(enableDnssecRoute, { params: paramsOf(zone), body: {} }),
    onSuccess: () => {
      notifySuccess(texts.kept)
      return invalidateZones()
    },
    onError: notifyProblem,
  })
  return (
    <Button variant="default" loading={keep.isPending} onClick={() => keep.mutate()}>
      {texts.cancelDisable}
    </Button>
  )
}
