// The metrics of a team for its own monitoring.
import { inventoryReading, route } from '../route.ts'

export const inventoryMetricsMediaType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

export const getInventoryMetricsRoute = route({
  name: 'getInventoryMetrics',
  group: 'Inventory',
  method: 'GET',
  path: '/v3/inventory/metrics',
  summary: 'Metrics of ports and devices as OpenMetrics',
  description:
    'Traffic, errors, states and light levels of the ports of the team now, and the states of its devices, for Prometheus and other programs that ' +
    'read OpenMetrics 1.0. `receive` is received by the team. Counters are those of the last poll and begin again when a device restarts. Scrape once ' +
    'a minute with an API token that has the scope `inventory:read`.',
  permission: inventoryReading,
  success: 200,
  download: ['application/openmetrics-text'],
})

export const inventoryMetricsRoutes = [getInventoryMetricsRoute]
