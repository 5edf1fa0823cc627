/** What a user types: shell lines in which `kubectl` talks to the server under test, run one after the other. */
export const lines: readonly string[] = `
kubectl version -o json | grep gitVersion
kubectl cluster-info
kubectl api-versions
kubectl api-resources -o wide
kubectl api-resources --namespaced=false --verbs=list,get -o name
kubectl get --raw /healthz
kubectl get --raw /readyz
kubectl auth whoami -o yaml | grep -v -e extra -e credential-id -e X509
kubectl auth can-i create pods
kubectl auth can-i --list
kubectl get namespaces
kubectl get all -n default
kubectl get services,endpoints,endpointslices -n default
kubectl get endpointslices -n default kubernetes -o jsonpath='{.metadata.labels}{.addressType}{.ports[0].name}'
kubectl get flowschemas
kubectl get prioritylevelconfigurations
kubectl get priorityclasses
kubectl create namespace show
kubectl config set-context --current --namespace=show > /dev/null
kubectl create configmap plain --from-literal=a=1 --from-literal=b=2
kubectl create configmap plain --from-literal=a=1
kubectl create configmap dry --from-literal=a=1 --dry-run=server -o yaml
kubectl create secret generic hidden --from-literal=password=secret
kubectl create secret docker-registry pull --docker-server=example.test --docker-username=u --docker-password=p
kubectl create secret tls pair --cert=missing.crt --key=missing.key
kubectl create serviceaccount robot
kubectl create token robot --duration=1h | wc -c | sed 's/[0-9][0-9]*/n/'
kubectl create role reader --verb=get,list --resource=pods,configmaps
kubectl create rolebinding readers --role=reader --serviceaccount=show:robot
kubectl create clusterrole show-reader --verb=get --resource=nodes
kubectl create clusterrolebinding show-readers --clusterrole=show-reader --user=jane
kubectl create deployment web --image=nginx:1 --replicas=2 --port=80
kubectl create job once --image=busybox -- true
kubectl create cronjob often --image=busybox --schedule='*/5 * * * *' -- true
kubectl create job from-cron --from=cronjob/often
kubectl create ingress site --rule='example.test/*=web:80' --class=none
kubectl create service clusterip inner --tcp=80:8080
kubectl create service nodeport outer --tcp=80:8080
kubectl create service loadbalancer front --tcp=80:8080
kubectl create service externalname away --external-name=example.test
kubectl create poddisruptionbudget guard --selector=app=web --min-available=1
kubectl create priorityclass show-high --value=1000 --description=high
kubectl create quota small --hard=configmaps=50,pods=20
kubectl run one --image=nginx:1 --labels=app=one,tier=front --env=A=b --port=80
kubectl run one --image=nginx:1
kubectl expose deployment web --port=80 --target-port=8080
kubectl expose pod one --name=one-service --port=80 --type=NodePort
kubectl autoscale deployment web --min=1 --max=3 --cpu-percent=80
kubectl get all
kubectl get pods,configmaps,secrets,serviceaccounts -o wide
kubectl get deployments,services,ingresses,cronjobs,jobs,pdb,hpa,quota -o wide
kubectl get roles,rolebindings -o wide
kubectl get clusterrolebindings show-readers -o wide
kubectl get deployment web -o yaml
kubectl get service web -o json
kubectl get pod one -o yaml --show-managed-fields
kubectl get pods -l app=one
kubectl get pods -l 'tier in (front,back),!missing' -o name
kubectl get pods --field-selector=status.phase=Pending,spec.nodeName=
kubectl get pods --field-selector=nope=x
kubectl get pods -A --sort-by=.metadata.name -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image
kubectl get configmaps --show-labels --no-headers -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'
kubectl get pods --chunk-size=1 -o name
kubectl get pod absent
kubectl get pod absent --ignore-not-found
kubectl get nothings
kubectl get pods -o go-template='{{range .items}}{{.metadata.name}} {{end}}'
timeout 2 kubectl get configmaps -w --output-watch-events --request-timeout=1s
kubectl describe pod one
kubectl describe deployment web
kubectl describe service web
kubectl describe configmap plain
kubectl describe secret hidden
kubectl describe cronjob often
kubectl describe ingress site
kubectl describe quota small
kubectl describe role reader
kubectl describe namespace show
kubectl describe hpa web
kubectl label pod one extra=yes
kubectl label pod one tier=back
kubectl label pod one tier=back --overwrite
kubectl label pod one extra-
kubectl annotate configmap plain note='some words'
kubectl annotate configmap plain note-
kubectl scale deployment web --replicas=3
kubectl scale deployment web --replicas=1 --current-replicas=9
kubectl set image deployment/web nginx=nginx:2
kubectl set env deployment/web LEVEL=debug
kubectl set env deployment/web --list
kubectl set resources deployment web --limits=cpu=200m,memory=128Mi --requests=cpu=100m
kubectl set serviceaccount deployment web robot
kubectl set selector service inner app=web
kubectl set subject rolebinding readers --user=joe
kubectl rollout history deployment web
kubectl rollout pause deployment web
kubectl rollout resume deployment web
kubectl rollout restart deployment web
kubectl rollout status deployment web --timeout=1s
kubectl rollout undo deployment web
kubectl patch configmap plain -p '{"data":{"c":"3"}}'
kubectl patch configmap plain --type=merge -p '{"data":{"a":null}}'
kubectl patch configmap plain --type=json -p '[{"op":"replace","path":"/data/b","value":"4"}]'
kubectl patch configmap plain --type=json -p '[{"op":"remove","path":"/data/nope"}]'
kubectl patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":1,"observedGeneration":1}}'
kubectl patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","imagePullPolicy":"Always"}]}}}}'
kubectl get configmap plain -o yaml
EDITOR='sed -i s/4/5/' kubectl edit configmap plain
EDITOR='sed -i s/kind:/kond:/' kubectl edit configmap plain
EDITOR=true kubectl edit configmap plain
kubectl apply -f manifest.yaml
kubectl apply -f manifest.yaml
kubectl diff -f changed.yaml | grep '^[+-] '
kubectl apply -f changed.yaml
kubectl apply view-last-applied configmap applied
kubectl apply -f changed.yaml --prune -l set=applied --prune-allowlist=core/v1/ConfigMap
kubectl apply --server-side -f manifest.yaml
kubectl apply --server-side --force-conflicts -f manifest.yaml
kubectl apply --server-side --field-manager=other -f changed.yaml
kubectl apply --server-side --field-manager=other --force-conflicts -f changed.yaml
kubectl get configmap applied -o yaml --show-managed-fields
kubectl apply -f wrong.yaml
kubectl apply -f wrong.yaml --validate=false
kubectl apply -f unknown.yaml
kubectl apply -f definition.yaml
kubectl wait --for=condition=Established --timeout=10s crd/widgets.show.example.test
kubectl apply -f widget.yaml
kubectl get widgets
kubectl get widget first -o yaml
kubectl describe widget first
kubectl explain widget.spec
kubectl explain widget.metadata | head -20
kubectl explain widget --recursive | head -40
kubectl explain widget.metadata --output=plaintext-openapiv2 | head -20
kubectl scale widget first --replicas=4
kubectl patch widget first --type=merge -p '{"spec":{"replicas":99}}'
kubectl patch widget first -p '{"spec":{"replicas":5}}'
kubectl explain pods.spec.containers.resources
kubectl explain deployment --recursive | head -60
kubectl explain cronjob.spec.schedule --api-version=batch/v1
kubectl explain nothing
kubectl explain configmap --output=plaintext-openapiv2
kubectl events --for pod/one
kubectl top pods
kubectl top nodes
kubectl logs one
kubectl exec one -- true
kubectl attach one
kubectl port-forward pod/one 18080:80
kubectl cp one:/etc/hosts /dev/null
kubectl get --raw /api/v1/namespaces/show/pods/one/log
kubectl get --raw /api/v1/namespaces/show/pods/one/proxy/
kubectl get --raw /api/v1/namespaces/show/services/web/proxy/
kubectl get --raw /api/v1/namespaces/show/services/away/proxy/
kubectl debug one --image=busybox --attach=false --container=dbg
kubectl get pod one -o jsonpath='{.spec.ephemeralContainers[*].name}'
kubectl patch pod one --subresource=resize -p '{"spec":{"containers":[{"name":"one","resources":{"requests":{"cpu":"10m"}}}]}}'
kubectl create -f node.yaml
kubectl get nodes -o wide
kubectl taint nodes worker key=value:NoSchedule
kubectl taint nodes worker key=value:NoSchedule
kubectl taint nodes worker key:NoSchedule-
kubectl cordon worker
kubectl drain worker --ignore-daemonsets --timeout=2s
kubectl uncordon worker
kubectl describe node worker | head -30
kubectl get --raw /api/v1/nodes/worker/proxy/healthz
kubectl apply -f csr.yaml
kubectl get csr
kubectl certificate approve show
kubectl certificate deny show
kubectl get csr show -o jsonpath='{.status.conditions[*].type}'
kubectl auth reconcile -f rbac.yaml
kubectl wait --for=jsonpath='{.data.b}'=5 configmap/plain --timeout=2s
kubectl wait --for=condition=Ready pod/one --timeout=1s
kubectl replace -f manifest.yaml
kubectl replace --force -f manifest.yaml
kubectl delete configmap absent
kubectl delete configmap plain --dry-run=server
kubectl delete configmap plain --wait=true
kubectl wait --for=delete configmap/plain --timeout=2s
kubectl delete deployment web --cascade=orphan
kubectl delete job once --cascade=foreground --wait=false
kubectl delete cronjob often --cascade=background
kubectl delete pod one --force --grace-period=0
kubectl delete services -l app=web
kubectl delete all --all --wait=false
kubectl delete -f widget.yaml -f definition.yaml
kubectl delete csr show
kubectl delete node worker
kubectl delete clusterrole,clusterrolebinding show-reader show-readers
kubectl delete priorityclass show-high
kubectl delete namespace default
kubectl delete namespace show --wait=false
`
  .trim()
  .split("\n");
