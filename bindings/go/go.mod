module verbena-example

go 1.19
