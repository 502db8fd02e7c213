module cardquota.dev/constant-webhook

go 1.26
