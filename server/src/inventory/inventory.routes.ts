// The HTTP side of prefixes, services, devices and ports: one line per operation.
import {
  getBillingSamplesRoute,
  listBillablePortsRoute,
  listBillingPeriodsRoute,
} from '@pharos/contract/inventory/bill'
import {
  getDeviceMetricsRoute,
  getDeviceRoute,
  groupDevicesRoute,
  listDevicesRoute,
  listInterfacesRoute,
} from '@pharos/contract/inventory/device'
import { getInventoryMetricsRoute } from '@pharos/contract/inventory/metrics'
import { getPortRoute, listPortsRoute } from '@pharos/contract/inventory/port'
import { getPrefixRoute, listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { getServiceRoute, listServicesRoute } from '@pharos/contract/inventory/service'
import { getTransceiverMetricsRoute } from '@pharos/contract/inventory/transceiver'
import { getPortUsageRoute } from '@pharos/contract/inventory/usage'
import { handle, type Mounted } from '../http/mount.ts'
import { getDevice, groupDevices, listDevices, listInterfaces, type DeviceDeps } from './device/device.ts'
import { getBillingSamples, listBillablePorts, listBillingPeriods } from './bill/billable-port.ts'
import { getDeviceMetrics } from './device/device-metrics.ts'
import { getInventoryMetrics } from './metrics/metrics.ts'
import { getTransceiverMetrics } from './optics/transceiver.ts'
import { getPort, listPorts, type PortDeps } from './port/port.ts'
import { getPrefix, listPrefixes, type PrefixDeps } from './holding/prefix.ts'
import { getPortUsage, type UsageDeps } from './usage/usage.ts'
import { getService, listServices, type ServiceDeps } from './holding/service.ts'

export const inventoryRoutes = (
  deps: PrefixDeps & ServiceDeps & DeviceDeps & PortDeps & UsageDeps,
): Mounted[] => [
  handle(listPrefixesRoute, listPrefixes, deps),
  handle(getPrefixRoute, getPrefix, deps),
  handle(listServicesRoute, listServices, deps),
  handle(getServiceRoute, getService, deps),
  handle(listBillablePortsRoute, listBillablePorts, deps),
  handle(listBillingPeriodsRoute, listBillingPeriods, deps),
  handle(getBillingSamplesRoute, getBillingSamples, deps),
  handle(listDevicesRoute, listDevices, deps),
  handle(groupDevicesRoute, groupDevices, deps),
  handle(getDeviceRoute, getDevice, deps),
  handle(getDeviceMetricsRoute, getDeviceMetrics, deps),
  handle(listInterfacesRoute, listInterfaces, deps),
  handle(listPortsRoute, listPorts, deps),
  handle(getPortRoute, getPort, deps),
  handle(getTransceiverMetricsRoute, getTransceiverMetrics, deps),
  handle(getInventoryMetricsRoute, getInventoryMetrics, deps),
  handle(getPortUsageRoute, getPortUsage, deps),
]
