@rem If this script is on PATH, kubectl runs it to complete "kubectl genname" after Tab.
@kubectl-genname.exe __complete %*
