@rem kubectl runs this, found on PATH, to complete the words of "kubectl genname".
@kubectl-genname.exe __complete %*
