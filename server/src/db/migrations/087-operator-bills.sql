-- phase: expand
-- runs with: 0.2.0-rc.1
-- The bills of all teams for the operator, by month.

create index billing_periods_month on billing_periods (month, id);
