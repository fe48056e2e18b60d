-- What has happened, and where it is told.
select;
