-- Domains that a team has proved to be its own.
select;
